/** Loads a configuration with the secrets of its providers, or without them where no provider may run. */
import { loadConfig, type LoadConfigOptions, type LoadedConfig } from '../load-config.ts'
import type { SecretCache } from './secret-cache.ts'
import type { SecretReference } from './secret-provider.ts'

export type SecretReader = Pick<SecretCache, 'known' | 'read'>

/** Long enough for every setting that has a length. */
const unreadSecret = { value: 'a secret that was not read yet', isUnread: true } as const

/** Starts neither programs nor modules. */
export const unreadSecrets: SecretReader = { known: () => unreadSecret, read: async () => () => unreadSecret }

/** Reads the secrets that are not known yet, which may start programs. */
export async function loadWithSecrets(options: LoadConfigOptions, cache: SecretReader): Promise<LoadedConfig> {
  const loaded = loadConfig({ ...options, secrets: cache.known })
  if (loaded.providerSecrets.length === 0) return loaded
  return loadConfig({ ...options, secrets: await cache.read(loaded.providerSecrets) })
}

/**
 * The same for a configuration that is only checked: programs and modules that `current` does not have are not started. Their
 * secrets are replaced by a text.
 */
export async function checkWithSecrets(
  options: LoadConfigOptions,
  cache: SecretReader,
  current: string,
): Promise<LoadedConfig> {
  const loaded = loadConfig({ ...options, secrets: cache.known })
  if (loaded.providerSecrets.length === 0) return loaded
  const known = new Set(loadConfig({ ...options, text: current }).providerSecrets.map(providerKey))
  const isKnown = (reference: SecretReference): boolean => known.has(providerKey(reference))
  const lookup = await cache.read(loaded.providerSecrets.filter(isKnown))
  return loadConfig({
    ...options,
    secrets: (reference) => (isKnown(reference) ? lookup(reference) : unreadSecret),
  })
}

function providerKey({ scheme, provider }: SecretReference): string {
  return JSON.stringify([scheme, provider])
}
