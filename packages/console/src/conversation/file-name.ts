/** What agents call their files, made fit to be one's own. */

/** A name for a file that stays a name, whatever an agent calls it. */
export function fileName(named: string | undefined, otherwise: string): string {
  const name = (named ?? '')
    .replaceAll(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  return name === '' ? otherwise : name.slice(0, 120)
}
