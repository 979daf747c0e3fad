/** How names chosen by callers are stored: whole in columns, as a digest in indexes. */
import { hash } from 'node:crypto'

export { decodeText, encodeText } from '../text-encoding.ts'

/** Sixteen bytes of SHA-256, as a uuid: the smallest form in Postgres. */
export function nameDigest(...names: readonly string[]): string {
  return hash('sha256', names.length === 1 ? (names[0] as string) : JSON.stringify(names)).slice(0, 32)
}

/** Converts a time to an integer for integer columns; infinite times become one that no clock reaches. */
export function toPostgresInteger(time: number): number {
  return Math.min(Math.round(time), Number.MAX_SAFE_INTEGER)
}
