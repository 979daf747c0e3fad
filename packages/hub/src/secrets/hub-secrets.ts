/**
 * The secrets that the hub keeps for references `${hub:<name>}`: sealed in the store, the same for all replicas. Their values are
 * never returned to callers.
 */
import { newId, type AgentLog, type Json } from '@parley/a2a'
import type { FullStore, KeyValueEntry } from '@parley/a2a/stores'
import { openSealer, type Sealer } from '@parley/a2a/internal'
import { ignoreLostKey } from '../admin/config-service.ts'
import { RouteError } from '../http/json-response.ts'

export interface HubSecretInfo {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly setAt: number
  readonly setBy: string
}

export interface HubSecrets {
  /** By name, as far as this replica has read them. */
  readonly values: ReadonlyMap<string, string>
  list(): Promise<readonly HubSecretInfo[]>
  /** Throws RouteError if there are too many, or with `isNew` if there is one of this name. */
  set(name: string, value: string, about: SecretChange): Promise<HubSecretInfo>
  /** Returns whether it existed. */
  remove(name: string): Promise<boolean>
  /** Reads what other replicas have changed. Runs every ten seconds if there can be others. */
  refresh(): Promise<void>
  /** Seals all again, under the newest key. */
  reseal(): Promise<void>
  close(): Promise<void>
}

export interface SecretChange {
  readonly who: string
  /** Refuses to replace one. */
  readonly isNew?: boolean
}

export const hubSecretPurpose = 'hub-secret'
export const maxHubSecrets = 500
const kind = 'hub-secret'
/** The sealed values, and beside them when each was set and by whom: an erasure may replace that name without the value. */
const valuePrefix = 'value/'
const aboutPrefix = 'about/'
/** Another text after each change: a replica reads the secrets again only then. */
const changeKey = 'changed'
const refreshMs = 10_000

/**
 * Resolves when the secrets are read. `onChange` gets all values whenever one has changed, the first ones included. `sealer` is that
 * of the running server, if there is one.
 */
export async function openHubSecrets(
  store: FullStore,
  log: Pick<AgentLog, 'warn'>,
  sealer: () => Sealer | undefined,
  onChange: (values: ReadonlyMap<string, string>) => Promise<void>,
): Promise<HubSecrets> {
  const { kv } = store
  let values: ReadonlyMap<string, string> = new Map()
  /** The version of each entry in the store whose value is known. */
  let versions: ReadonlyMap<string, string> = new Map()
  let seenChange: Json | undefined
  let isClosed = false
  let beforeServer: Promise<Sealer> | undefined
  let refreshing: Promise<unknown> = Promise.resolve()

  async function entries(prefix: string): Promise<readonly (KeyValueEntry & { readonly name: string })[]> {
    const found = await kv.list(kind, { prefix, limit: maxHubSecrets * 2 })
    return found.map((entry) => ({ ...entry, name: entry.key.slice(prefix.length) }))
  }

  async function currentSealer(): Promise<Sealer> {
    return sealer() ?? (beforeServer ??= openSealer(store))
  }

  /** A secret whose key is lost, such as after a restore without the keys, must not prevent the others. */
  async function unseal(name: string, sealed: Json): Promise<string | undefined> {
    const value = await (await currentSealer()).unseal(hubSecretPurpose, sealed as string, name).catch(ignoreLostKey)
    if (value === undefined) log.warn('a secret cannot be decrypted: set it again', { name })
    return value
  }

  /** Returns whether a value has changed. */
  async function readAll(): Promise<boolean> {
    // Before the entries: a change in between is seen again by the next read.
    const change = (await kv.read(kind, changeKey))?.value
    if (change === seenChange) return false
    const nextValues = new Map<string, string>()
    const nextVersions = new Map<string, string>()
    for (const { name, value: sealed, version, updatedAt } of await entries(valuePrefix)) {
      const mark = `${version} ${updatedAt}`
      const known = versions.get(name) === mark ? values.get(name) : undefined
      const value = known ?? (await unseal(name, sealed))
      if (value === undefined) continue
      nextValues.set(name, value)
      nextVersions.set(name, mark)
    }
    const before = values
    values = nextValues
    versions = nextVersions
    seenChange = change
    return before.size !== values.size || [...values].some(([name, value]) => before.get(name) !== value)
  }

  /** One read after the other, so that an older one never overwrites a newer one. */
  function refresh(): Promise<void> {
    const done = refreshing.then(async () => {
      if (!(await readAll()) || isClosed) return
      // The change itself is stored.
      await onChange(values).catch((cause: unknown) => log.warn('a changed secret could not be applied', { cause }))
    })
    refreshing = done.catch(() => {})
    return done
  }

  async function requireRoom(wanted: string): Promise<void> {
    const names = (await entries(aboutPrefix)).map(({ name }) => name)
    if (names.length >= maxHubSecrets && !names.includes(wanted))
      throw new RouteError('CONFLICT', `There are ${maxHubSecrets} secrets already: remove one that no agent uses`)
  }

  await refresh()
  const isShared = Number.isFinite(store.leaseTtlMs)
  const timer = isShared ? setInterval(() => void refresh().catch(() => {}), refreshMs).unref() : undefined
  return {
    get values() {
      return values
    },
    async list() {
      const found = await entries(aboutPrefix)
      return found.map(({ name, value }) => ({ name, ...(value as unknown as Omit<HubSecretInfo, 'name'>) }))
    },
    async set(name, value, { who, isNew = false }) {
      await requireRoom(name)
      const sealed = await (await currentSealer()).seal(hubSecretPurpose, value, name)
      const info = { setAt: Date.now(), setBy: who }
      const about = { key: aboutPrefix + name, value: info }
      if (isNew && (await kv.write(kind, about, 0)) === undefined)
        throw new RouteError('CONFLICT', `There is a secret ${name} already`)
      await kv.writeAll(kind, [about, { key: valuePrefix + name, value: sealed }, { key: changeKey, value: newId() }])
      await refresh()
      return { name, ...info }
    },
    async remove(name) {
      const removed = await Promise.all([valuePrefix, aboutPrefix].map((prefix) => kv.remove(kind, prefix + name)))
      if (!removed.includes(true)) return false
      await kv.write(kind, { key: changeKey, value: newId() })
      await refresh()
      return true
    },
    refresh,
    async reseal() {
      const newest = await currentSealer()
      for (const { key, name, value: sealed, version } of await entries(valuePrefix)) {
        const value = await unseal(name, sealed)
        if (value === undefined) continue
        // If it was replaced or removed meanwhile, that counts.
        await kv.write(kind, { key, value: await newest.seal(hubSecretPurpose, value, name) }, version)
      }
    },
    async close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}
