/** Delegation of a hub that has no listener: with keys of its own, and notes in memory. */
import { exportJWK, generateKeyPair } from 'jose'
import { memoryNotes } from '@parley/a2a'
import type { SigningKeys } from '@parley/a2a/server'
import { createDelegation } from '../delegation.ts'
import type { Delegation, DelegationParts, DelegationSettings } from '../delegation.ts'
import { openIdentity } from '../identity.ts'

export interface TestDelegationOptions extends Partial<Omit<DelegationParts, 'settings'>> {
  readonly settings?: Partial<DelegationSettings>
}

export const usualSettings: DelegationSettings = {
  issuer: 'https://hub.test',
  maxDepth: 8,
  tasks: 50,
  trust: [],
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function testDelegation({ settings, ...given }: TestDelegationOptions = {}): Promise<Delegation> {
  const notes = given.notes ?? memoryNotes()
  const keys = testKeys()
  return createDelegation({
    settings: { ...usualSettings, ...settings },
    identity: await openIdentity(notes),
    notes,
    keys: () => keys,
    mayUse: () => true,
    fetch: () => Promise.reject(new Error('there is nothing to fetch here')),
    log: silent,
    now: Date.now,
    ...given,
  })
}

/** As the keyring of a server has them. */
export async function testKeys(kid = 'hop.test'): Promise<SigningKeys> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
  return {
    signer: async () => ({ kid, privateKey }),
    jwks: async () => ({ keys: [jwk] }) as unknown as Awaited<ReturnType<SigningKeys['jwks']>>,
    rotate: () => Promise.reject(new Error('these keys stay')),
  }
}
