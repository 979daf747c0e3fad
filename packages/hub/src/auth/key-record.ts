/** A key as stored, and as shown. */
import type { Json } from '@parley/a2a'
import type { Rate } from '../config/values.ts'
import { publicKeyPrefix } from './key-format.ts'

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
