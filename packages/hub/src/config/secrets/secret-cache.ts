/**
 * The secrets of providers that a hub uses: read when the configuration needs them, and again at their interval. If a provider fails,
 * the last value stays in use, so that a secret manager that is down does not stop the hub.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { operatorMessage } from '../../json/operator-message.ts'
import { commandProvider } from './command-provider.ts'
import type { SecretLookup, SecretProvider, SecretReference, SecretResult } from './secret-provider.ts'

export interface SecretCacheOptions {
  /** Programs run in it, and paths of modules are resolved against it. */
  readonly baseDir: string
  /** The environment of programs, to which the provider's own is added. */
  readonly env: Readonly<Record<string, string>>
  /** Whether errors quote what programs wrote to stderr. Default: true. */
  readonly quotesStderr?: boolean
}

export interface SecretCache {
  /** Reads the secrets that are not known yet. The result has a value or a problem for each. */
  read(references: readonly SecretReference[]): Promise<SecretLookup>
  /** What is known, without reading anything. */
  readonly known: SecretLookup
  /** Reads these again at their intervals, instead of those before. */
  follow(references: readonly SecretReference[], listener: SecretListener): void
  /** Reads all followed secrets again now. */
  refresh(): Promise<void>
  /** The providers of the followed secrets. */
  status(): readonly SecretProviderStatus[]
  close(): void
}

export interface SecretProviderStatus {
  /** Its name in the configuration. */
  readonly provider: string
  /** Secrets whose last read failed: an earlier value is in use. */
  readonly stale: number
}

export interface SecretListener {
  /** At least one secret has another value. */
  changed(): void
  /** A secret could not be read again; its last value stays in use. */
  failed(reference: SecretReference, problem: string): void
}

export function createSecretCache({ baseDir, env, quotesStderr }: SecretCacheOptions): SecretCache {
  const values = new Map<string, string>()
  /** The keys of secrets whose last read failed. */
  const stale = new Set<string>()
  const providers = new Map<string, Promise<SecretProvider>>()
  let followed: readonly SecretReference[] = []
  let listener: SecretListener | undefined
  let stops: (() => void)[] = []

  function providerOf({ scheme, provider }: SecretReference): Promise<SecretProvider> {
    const key = JSON.stringify([scheme, provider])
    const opened = providers.get(key) ?? openProvider(provider)
    providers.set(key, opened)
    // A module that could not be loaded is tried again.
    opened.catch(() => providers.delete(key))
    return opened
  }

  async function openProvider({ command, module, env: own }: SecretReference['provider']): Promise<SecretProvider> {
    if (command !== undefined) return commandProvider({ command, cwd: baseDir, env: { ...env, ...own }, quotesStderr })
    const loaded = (await import(pathToFileURL(resolve(baseDir, module ?? '')).href)) as { readonly default?: unknown }
    const provider = loaded.default as Partial<SecretProvider> | undefined
    if (typeof provider?.read === 'function') return provider as SecretProvider
    throw new Error(`${module} must export a provider as default: an object with read(name, signal)`)
  }

  async function readOne(reference: SecretReference): Promise<SecretResult> {
    try {
      const provider = await providerOf(reference)
      const value: unknown = await readWithin(reference.provider.timeout, (signal) =>
        provider.read(reference.name, signal),
      )
      if (typeof value !== 'string' || value === '') return { problem: `${nameOf(reference)} is empty` }
      return { value }
    } catch (reason) {
      return { problem: `${nameOf(reference)} cannot be read: ${operatorMessage(reason)}` }
    }
  }

  async function refreshAll(references: readonly SecretReference[]): Promise<void> {
    const results = await Promise.all(references.map(async (one) => [one, await readOne(one)] as const))
    let hasChanged = false
    for (const [reference, result] of results) {
      // Removed from the configuration meanwhile.
      if (!followed.includes(reference)) continue
      if ('problem' in result) {
        stale.add(keyOf(reference))
        listener?.failed(reference, result.problem)
        continue
      }
      stale.delete(keyOf(reference))
      hasChanged ||= values.get(keyOf(reference)) !== result.value
      values.set(keyOf(reference), result.value)
    }
    if (hasChanged) listener?.changed()
  }

  const known: SecretLookup = (reference) => {
    const value = values.get(keyOf(reference))
    return value === undefined ? undefined : { value }
  }

  function stopFollowing(): void {
    for (const stop of stops) stop()
    stops = []
  }

  return {
    known,
    async read(references) {
      const results = new Map<string, SecretResult>()
      await Promise.all(
        references.map(async (reference) => {
          const result = known(reference) ?? (await readOne(reference))
          results.set(keyOf(reference), result)
          if ('value' in result) values.set(keyOf(reference), result.value)
        }),
      )
      return (reference) => results.get(keyOf(reference)) ?? known(reference)
    },
    follow(references, given) {
      stopFollowing()
      followed = references
      listener = given
      const keys = new Set(references.map(keyOf))
      for (const key of stale) if (!keys.has(key)) stale.delete(key)
      for (const refresh of new Set(references.map(({ provider }) => provider.refresh))) {
        if (refresh === 0) continue
        const due = references.filter(({ provider }) => provider.refresh === refresh)
        const timer = setInterval(() => void refreshAll(due), refresh).unref()
        stops.push(() => clearInterval(timer))
      }
      for (const reference of references) {
        void providerOf(reference).then(
          (provider) => {
            const stop = provider.watch?.(reference.name, () => void refreshAll([reference]))
            if (stop === undefined) return
            if (followed === references) stops.push(stop)
            else stop()
          },
          () => {},
        )
      }
    },
    refresh: () => refreshAll(followed),
    status() {
      const counts = new Map<string, number>()
      // A secret may have several references.
      for (const [key, { scheme }] of new Map(followed.map((reference) => [keyOf(reference), reference])))
        counts.set(scheme, (counts.get(scheme) ?? 0) + (stale.has(key) ? 1 : 0))
      return [...counts].map(([provider, count]) => ({ provider, stale: count }))
    },
    close() {
      stopFollowing()
      followed = []
    },
  }
}

/** A module may ignore the signal. Without a limit here, its secret would never be stale, and the hub would wait for it at its start. */
async function readWithin(timeoutMs: number, read: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const timeout = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new Error(`it was not read within ${timeoutMs} ms`)
    timeout.abort(error)
    // After the error of a provider that follows the signal, which says more.
    setImmediate(() => late.reject(error))
  }, timeoutMs)
  try {
    return await Promise.race([read(timeout.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function keyOf({ scheme, name, provider }: SecretReference): string {
  return JSON.stringify([scheme, name, provider])
}

function nameOf({ scheme, name }: SecretReference): string {
  return `\${${scheme}:${name}}`
}
