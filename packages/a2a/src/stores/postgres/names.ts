/** How names that callers choose are written: whole in columns, by a digest in indexes. */
import { hash } from 'node:crypto'

/** No name of ours begins with it, and Postgres can keep it. */
const mark = '\u0001'

/** Postgres texts have no NUL and no half of a surrogate pair; names may. */
export function toText(name: string): string {
  if (name.isWellFormed() && !name.includes('\0') && !name.startsWith(mark)) return name
  return mark + JSON.stringify(name)
}

export function fromText(text: string): string {
  return text.startsWith(mark) ? (JSON.parse(text.slice(mark.length)) as string) : text
}

/** Sixteen bytes of SHA-256, in the form of a uuid: that is how Postgres keeps them smallest. */
export function digestOf(...names: readonly string[]): string {
  return hash('sha256', names.length === 1 ? (names[0] as string) : JSON.stringify(names)).slice(0, 32)
}

/** A whole number that no clock will reach, for columns that hold whole numbers. */
export function wholeTime(time: number): number {
  return Math.min(Math.round(time), Number.MAX_SAFE_INTEGER)
}
