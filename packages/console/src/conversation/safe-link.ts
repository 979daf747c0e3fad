/** Where something that an agent named may be followed to: pages and mail, and nothing that a browser would run. */

export function safeLink(url: string): string | undefined {
  if (!/^(https?|mailto):/i.test(url) || !URL.canParse(url)) return undefined
  return new URL(url).href
}

/** A name for a file that stays a name, whatever an agent calls it. */
export function fileName(named: string | undefined, otherwise: string): string {
  const name = (named ?? '')
    .replaceAll(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  return name === '' ? otherwise : name.slice(0, 120)
}
