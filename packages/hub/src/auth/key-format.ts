/**
 * A key as text and as a record. Its text is `pk_<id>_<secret and checksum>`: secret scanners recognize the prefix, the id is used
 * for lookup, and the checksum detects a mistyped key without a store query.
 */
import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Json } from '@parley/a2a'
import type { Rate } from '../config/values.ts'

export type KeyPrefix = 'pk' | 'pka'

export interface GeneratedKey {
  readonly id: string
  /** The whole key: shown once, stored nowhere. */
  readonly key: string
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12
/** 190 bits: a secret that cannot be guessed needs no slow hash. */
const secretLength = 32
const checkLength = 6
const keyPattern = new RegExp(
  `^(pka?)_([0-9A-Za-z]{${idLength}})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checkLength}})$`,
)

export function generateKey(prefix: KeyPrefix = 'pk'): GeneratedKey {
  const id = randomText(idLength)
  const body = `${prefix}_${id}_${randomText(secretLength)}`
  return { id, key: body + checksum(body) }
}

/** The id of a text in the format of a key; only its hash decides whether it is valid. */
export function keyIdOf(text: string, prefix: KeyPrefix = 'pk'): string | undefined {
  const [, found, id, secret = '', check] = keyPattern.exec(text) ?? []
  return found === prefix && id !== undefined && check === checksum(`${prefix}_${id}_${secret}`) ? id : undefined
}

/** The part by which people recognize it. */
export function publicKeyPrefix(id: string, prefix: KeyPrefix = 'pk'): string {
  return `${prefix}_${id}`
}

/** SHA-256 in hex. */
export function sha256Hex(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** That a client knows the key with this hash. `nonce` is random text of the client. */
export function clientProof(hash: string, nonce: string): string {
  return createHmac('sha256', hash).update(`parley admin key client ${nonce}`).digest('base64url')
}

/** That the hub, which has no more than the hash, knows the key, and accepted this connection (`connectionText`). */
export function hubProof(hash: string, nonce: string, connection: string): string {
  return createHmac('sha256', hash).update(`parley admin key hub ${connection} ${nonce}`).digest('base64url')
}

export interface SocketEnd {
  readonly address: string | undefined
  readonly port: number | undefined
}

/** Both ends, which are the same for both sides unless a program, a proxy or NAT is between them: `127.0.0.1:50000 127.0.0.1:3000`. */
export function connectionText(client: SocketEnd, hub: SocketEnd): string {
  // An IPv4 address in a socket of IPv6, and a network interface, which the other side may name differently.
  const textOf = ({ address = '', port }: SocketEnd): string =>
    `${address.replace('::ffff:', '').replace(/%.*/, '')}:${port}`
  return `${textOf(client)} ${textOf(hub)}`
}

/** Compares hashes or tokens in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function randomText(length: number): string {
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

export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  /** The owner of tasks opened with it. Other keys of the same principal can continue them. */
  readonly principal: string
  /** The tenant of calls that name none. */
  readonly tenant?: string
  readonly rate?: Rate
  readonly tasksPerDay?: number
  readonly createdAt: number
  /** The principal that created it, or `admin`. */
  readonly createdBy: string
  /**
   * A caller created it for itself, and not an admin. The caller lists and revokes it, its limits count the calls of the key, and
   * its erasure revokes the key. Keys of earlier versions lack it: they act as their creator.
   */
  readonly isCallerKey?: true
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** SHA-256 of the whole key. */
  readonly hash: string
}

/** The public fields of a key. */
export type KeyInfo = Omit<KeyRecord, 'hash'> & {
  /** The public part of the key. */
  readonly prefix: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly lastUsedAt?: number
}

export function keyState({ revokedAt, expiresAt }: KeyRecord, now: number): KeyInfo['state'] {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

/** The caller that created the key for itself; `undefined` for a key that an admin created. */
export function creatorOf({ isCallerKey, createdBy, principal }: KeyRecord | KeyInfo): string | undefined {
  return isCallerKey === true || createdBy === principal ? createdBy : undefined
}

/** Whether the key acts as the caller, or the caller created it for itself. */
export function isKeyOf(key: KeyRecord | KeyInfo, caller: string): boolean {
  return key.principal === caller || creatorOf(key) === caller
}

/** The keys of a caller: `<hash of its name>/<id>`, because the name may be longer than a key of the store. */
export const ownerIndexKind = 'key-of'

export function ownerIndexKey(record: KeyRecord): string {
  return `${sha256Hex(creatorOf(record) ?? record.principal)}/${record.id}`
}

export function keyInfoOf(record: KeyRecord, now: number, lastUsedAt: number | undefined): KeyInfo {
  const { hash: _, ...shown } = record
  return {
    ...shown,
    prefix: publicKeyPrefix(record.id),
    state: keyState(record, now),
    ...(lastUsedAt !== undefined ? { lastUsedAt } : {}),
  }
}

export function serializeKeyRecord(record: KeyRecord): Json {
  return JSON.parse(JSON.stringify(record)) as Json
}

export function parseKeyRecord(value: Json): KeyRecord {
  return value as unknown as KeyRecord
}
