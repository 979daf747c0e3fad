/**
 * A message id for commands that people paste into a shell, made anew each time they run. The same id with the same text
 * would be the same message; a UUID, because repeats of anonymous callers count only under ids that cannot be guessed.
 */

/** macOS and most of Linux have the first, the rest of Linux the second. */
const newId = '$(uuidgen || cat /proc/sys/kernel/random/uuid)'

/** What stands for the id in a request that is still to be written for a shell. */
export const freshId = '{a new id}'

/** Of a text between single quotes: ends them before the first id and begins them again after it. */
export function fillFreshId(quoted: string): string {
  return quoted.replace(freshId, () => `'${newId}'`)
}
