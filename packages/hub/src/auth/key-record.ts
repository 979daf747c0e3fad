/** A key as it is kept, and as it is shown. */
import type { Json } from '@parley/a2a'
import type { Rate } from '../config/values.ts'
import { prefixOf } from './key-format.ts'

export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  /** Whose tasks are opened with it. Another key of the same principal goes on with them. */
  readonly principal: string
  /** The tenant that is meant by calls that name none. */
  readonly tenant?: string
  readonly rate?: Rate
  readonly tasksPerDay?: number
  readonly createdAt: number
  /** The principal who made it, or `admin`. */
  readonly createdBy: string
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** SHA-256 of the whole key. */
  readonly hash: string
}

/** What may be told of it. */
export type KeyInfo = Omit<KeyRecord, 'hash'> & {
  /** The part of the key that is no secret. */
  readonly prefix: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly lastUsedAt?: number
}

export function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): KeyInfo['state'] {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

export function infoOf(record: KeyRecord, now: number, lastUsedAt: number | undefined): KeyInfo {
  const { hash: _, ...shown } = record
  return {
    ...shown,
    prefix: prefixOf(record.id),
    state: stateOf(record, now),
    ...(lastUsedAt !== undefined ? { lastUsedAt } : {}),
  }
}

export function writeRecord(record: KeyRecord): Json {
  return JSON.parse(JSON.stringify(record)) as Json
}

export function readRecord(value: Json): KeyRecord {
  return value as unknown as KeyRecord
}
