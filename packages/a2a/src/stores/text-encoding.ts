/** Texts as databases can hold them: most refuse NUL and lone surrogates, which names chosen by callers may contain. */

/** None of our own names begins with it, and PostgreSQL can store it. */
const escapeMark = '\u0001'

export function encodeText(name: string): string {
  if (name.isWellFormed() && !name.includes('\0') && !name.startsWith(escapeMark)) return name
  return escapeMark + JSON.stringify(name)
}

export function decodeText(text: string): string {
  return text.startsWith(escapeMark) ? (JSON.parse(text.slice(escapeMark.length)) as string) : text
}
