/** Sanitises file names from agents. */

/** A safe file name, whatever the agent sent. */
export function safeFileName(named: string | undefined, otherwise: string): string {
  const name = (named ?? '')
    .replaceAll(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  return name === '' ? otherwise : name.slice(0, 120)
}
