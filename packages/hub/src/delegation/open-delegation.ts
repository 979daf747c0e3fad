/** Opens delegation from the configuration. */
import type { KeyValueStore } from '@parley/a2a'
import type { HubConfig } from '../config/hub-config.ts'
import { createDelegation } from './delegation.ts'
import type { Delegation, DelegationDeps, DelegationSettings } from './delegation.ts'
import { openHubIdentity } from './hub-identity.ts'

export async function openDelegation(
  config: HubConfig,
  notes: KeyValueStore,
  parts: Omit<DelegationDeps, 'settings' | 'identity' | 'kv'>,
): Promise<Delegation> {
  return createDelegation({
    ...parts,
    settings: delegationSettings(config),
    identity: await openHubIdentity(notes),
    kv: notes,
  })
}

export function delegationSettings({
  delegation,
  publicUrl,
}: Pick<HubConfig, 'delegation' | 'publicUrl'>): DelegationSettings {
  const { issuer = publicUrl, maxDepth, budget, trust } = delegation
  return { issuer, maxDepth, tasks: budget.tasks, trust }
}
