/**
 * A message id for commands that users paste into a shell, new on each run. The same id with the same text would be the same
 * message. It is a UUID, because repeats of anonymous callers are recognized only under ids that cannot be guessed.
 */

/** macOS and most of Linux have the first, the rest of Linux the second. */
const shellUuid = '$(uuidgen || cat /proc/sys/kernel/random/uuid)'

/** Stands for the id in a request that is not yet quoted for a shell. */
export const messageIdPlaceholder = '{a new id}'

/** Takes a single-quoted text: closes the quotes before the first id and reopens them after it. */
export function fillMessageId(quoted: string): string {
  return quoted.replace(messageIdPlaceholder, () => `'${shellUuid}'`)
}
