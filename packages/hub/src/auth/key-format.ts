/**
 * What a key looks like: `pk_<id>_<secret and checksum>`. The first part lets scanners of repositories and logs know it for
 * what it is, the id is how it is looked up, and the checksum tells a mistyped one from a wrong one without asking a store.
 */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type KeySort = 'pk' | 'pka'

export interface NewKey {
  readonly id: string
  /** The whole of it: shown once, kept nowhere. */
  readonly key: string
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12
/** 190 bits: no slow hash is needed for what nobody can guess. */
const secretLength = 32
const checkLength = 6
const shape = new RegExp(
  `^(pka?)_([0-9A-Za-z]{${idLength}})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checkLength}})$`,
)

export function newKey(sort: KeySort = 'pk'): NewKey {
  const id = random(idLength)
  const body = `${sort}_${id}_${random(secretLength)}`
  return { id, key: body + checksum(body) }
}

/** The id of what is a key by its looks; whether it is a good one is for its hash to say. */
export function keyIdOf(text: string, sort: KeySort = 'pk'): string | undefined {
  const [, found, id, secret = '', check] = shape.exec(text) ?? []
  return found === sort && id !== undefined && check === checksum(`${sort}_${id}_${secret}`) ? id : undefined
}

/** By which people know it again. */
export function prefixOf(id: string, sort: KeySort = 'pk'): string {
  return `${sort}_${id}`
}

/** SHA-256 in hex. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Takes as long wherever the first difference is. */
export function isSameHash(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function random(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < checkLength; place++) {
    text = (alphabet[rest % alphabet.length] as string) + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
