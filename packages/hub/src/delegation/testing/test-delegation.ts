/** Delegation of a hub without a listener: with its own keys, and a key-value store in memory. */
import { exportJWK, generateKeyPair } from 'jose'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { SigningKeys } from '@parley/a2a/internal'
import { createDelegation, type Delegation, type DelegationDeps, type DelegationSettings } from '../delegation.ts'
import { openHubIdentity } from '../hub-identity.ts'

export interface TestDelegationOptions extends Partial<Omit<DelegationDeps, 'settings'>> {
  readonly settings?: Partial<DelegationSettings>
}

export const defaultTestSettings: DelegationSettings = {
  issuer: 'https://hub.test',
  maxDepth: 8,
  tasks: 50,
  trust: [],
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function createTestDelegation({ settings, ...given }: TestDelegationOptions = {}): Promise<Delegation> {
  const kv = given.kv ?? memoryKeyValueStore()
  const keys = testKeys()
  return createDelegation({
    settings: { ...defaultTestSettings, ...settings },
    identity: await openHubIdentity(kv),
    kv,
    keys: () => keys,
    canUse: () => true,
    fetch: () => Promise.reject(new Error('there is nothing to fetch here')),
    log: silent,
    now: Date.now,
    ...given,
  })
}

/** Keys as the keyring of a server has them. */
export async function testKeys(kid = 'hop.test'): Promise<SigningKeys> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
  return {
    signer: async () => ({ kid, privateKey }),
    jwks: async () => ({ keys: [jwk] }) as unknown as Awaited<ReturnType<SigningKeys['jwks']>>,
    rotate: () => Promise.reject(new Error('these keys stay')),
  }
}
