/**
 * The admin key: set in the configuration, or created at the first start. Stored as a hash. A rotation creates another key; the old
 * one stays valid for a while, on all replicas.
 */
import type { Json } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { type ClockOptions, clockOf } from '@parley/a2a/internal'
import { ConfigError } from '@parley/a2a/server'
import { clientProof, generateKey, hubProof, isSameSecret, sha256Hex } from './key-format.ts'
import { adminKeyMark } from './console-session.ts'

export interface AdminKeySettings {
  /** Replaces a created key, so an operator who lost the key configures another. */
  readonly key?: string | undefined
  /** Also accepted: for the time in which clients change to `key`. */
  readonly previousKeys?: readonly string[] | undefined
}

export interface AdminKey {
  matches(key: string): Promise<boolean>
  /** The proof of the hub for a client that sent this proof of a valid key; `undefined` if it is none. */
  prove(proof: string, nonce: string, connection: string): Promise<string | undefined>
  /** Whether the mark is that of a valid key. */
  isMark(mark: string): Promise<boolean>
  /** Set if the key was created by this start. Keep it: the store has only its hash. */
  readonly created?: string
  /** Creates another key. The current one ends after `overlapMs`. Returns `undefined` if the configuration sets the key. */
  rotate(overlapMs: number): Promise<RotatedAdminKey | undefined>
  /** Applies other settings. Without a key, the configured one stays until a restart. */
  configure(settings: AdminKeySettings): void
  /** Reads the key again, and reports keys that have ended. Runs every ten seconds. */
  check(): Promise<void>
  close(): void
}

export interface RotatedAdminKey {
  /** Show it once. */
  readonly key: string
  /** Milliseconds since the epoch: until then the previous key is valid. */
  readonly previousEndsAt: number
}

export interface AdminKeyDeps extends ClockOptions {
  readonly kv: KeyValueStore
  readonly settings?: AdminKeySettings
  /** Becomes the key if the store has none. Default: a generated key. */
  readonly firstKey?: string | undefined
  /** Called when a key that was valid is no longer. */
  onEnded?(): void
}

interface ValidKey {
  readonly hash: string
  /** Milliseconds since the epoch. Absent: it is valid until the next rotation. */
  readonly endsAt?: number
}

interface StoredAdminKey extends ValidKey {
  readonly createdAt: number
  /** Keys that were rotated, with their ends. */
  readonly previous?: readonly ValidKey[]
}

const kind = 'admin'
const name = 'key'
const minLength = 16
/** How long another replica may accept a key that has ended here. */
const cacheMs = 2_000
const checkIntervalMs = 10_000

export async function openAdminKey({
  kv,
  settings = {},
  firstKey,
  onEnded = () => {},
  ...clock
}: AdminKeyDeps): Promise<AdminKey> {
  const { now, monotonicNow } = clockOf(clock)
  let configured = configuredKeys(settings)
  let keys = configured ?? []
  let readAt = -Infinity
  let seen: ReadonlySet<string> = new Set()
  let created: string | undefined
  let timer: ReturnType<typeof setInterval> | undefined

  if (configured === undefined) {
    const key = firstKey ?? generateKey('pka').key
    const value = { hash: sha256Hex(key), createdAt: now() }
    if ((await kv.write(kind, { key: name, value }, 0)) !== undefined) created = key
    await readStored()
    // Replicas find out about a rotation although they get no request, and end the sessions of an old key in time.
    timer = setInterval(() => void check().catch(() => {}), checkIntervalMs).unref()
  }
  reportEnded()

  async function readStored(): Promise<void> {
    const record = parseRecord((await kv.read(kind, name))?.value)
    if (configured !== undefined) return
    keys = [record, ...(record.previous ?? [])]
    readAt = monotonicNow()
  }

  function validKeys(): readonly ValidKey[] {
    return keys.filter(({ endsAt = Infinity }) => endsAt > now())
  }

  function reportEnded(): void {
    const valid = new Set(validKeys().map(({ hash }) => hash))
    const hasEnded = [...seen].some((hash) => !valid.has(hash))
    seen = valid
    if (hasEnded) onEnded()
  }

  async function check(): Promise<void> {
    if (configured === undefined) await readStored()
    reportEnded()
  }

  /** Whether a valid key passes. An unknown key may be one that another replica has created since. */
  async function some(passes: (key: ValidKey) => boolean): Promise<boolean> {
    // While the store does not answer, the known keys count: the operator needs them most then.
    if (configured === undefined && monotonicNow() - readAt > cacheMs) await check().catch(() => {})
    const found = validKeys().filter(passes)
    if (found.length > 0 || configured !== undefined) return found.length > 0
    await check().catch(() => {})
    return validKeys().some(passes)
  }

  return {
    ...(created !== undefined ? { created } : {}),
    matches(key) {
      const hash = sha256Hex(key)
      return some((one) => isSameSecret(hash, one.hash))
    },
    async prove(proof, nonce, connection) {
      let own: string | undefined
      await some(({ hash }) => {
        if (!isSameSecret(proof, clientProof(hash, nonce))) return false
        own = hubProof(hash, nonce, connection)
        return true
      })
      return own
    },
    isMark: (mark) => some(({ hash }) => adminKeyMark(hash) === mark),
    async rotate(overlapMs) {
      for (;;) {
        if (configured !== undefined) return undefined
        const stored = await kv.read(kind, name)
        const before = parseRecord(stored?.value)
        const { key } = generateKey('pka')
        const previousEndsAt = now() + overlapMs
        const previous = [before, ...(before.previous ?? [])]
          .map(({ hash, endsAt = Infinity }) => ({ hash, endsAt: Math.min(endsAt, previousEndsAt) }))
          .filter(({ endsAt }) => endsAt > now())
        const next: StoredAdminKey = { hash: sha256Hex(key), createdAt: now(), previous }
        if ((await kv.write(kind, { key: name, value: next as unknown as Json }, stored?.version)) === undefined)
          continue
        await check().catch(() => {})
        return { key, previousEndsAt }
      }
    },
    configure(next) {
      const found = configuredKeys(next)
      if (found === undefined) return
      configured = found
      keys = found
      reportEnded()
    },
    check,
    close: () => clearInterval(timer),
  }
}

function configuredKeys({ key, previousKeys = [] }: AdminKeySettings): readonly ValidKey[] | undefined {
  if (key === undefined) return undefined
  if (key.length < minLength) {
    throw new ConfigError(
      'admin.key',
      `is shorter than ${minLength} characters: create one with \`openssl rand -base64 32\``,
    )
  }
  // Such as an empty variable: everyone would guess it.
  if (previousKeys.some((one) => one.length < minLength)) {
    throw new ConfigError('admin.previousKeys', `has a key that is shorter than ${minLength} characters: remove it`)
  }
  return [key, ...previousKeys].map((one) => ({ hash: sha256Hex(one) }))
}

function parseRecord(value: Json | undefined): StoredAdminKey {
  const record = (value ?? {}) as unknown as Partial<StoredAdminKey>
  if (typeof record.hash === 'string') return record as StoredAdminKey
  throw new ConfigError('admin.key', 'the generated key cannot be read: set another key')
}
