/** Delegation as the configuration says it. */
import type { Notes } from '@parley/a2a'
import type { HubConfig } from '../config/config.ts'
import { createDelegation } from './delegation.ts'
import type { Delegation, DelegationParts, DelegationSettings } from './delegation.ts'
import { openIdentity } from './identity.ts'

export async function openDelegation(
  config: HubConfig,
  notes: Notes,
  parts: Omit<DelegationParts, 'settings' | 'identity' | 'notes'>,
): Promise<Delegation> {
  return createDelegation({
    ...parts,
    settings: delegationSettings(config),
    identity: await openIdentity(notes),
    notes,
  })
}

export function delegationSettings({
  delegation,
  publicUrl,
}: Pick<HubConfig, 'delegation' | 'publicUrl'>): DelegationSettings {
  const { issuer = publicUrl, maxDepth, budget, trust } = delegation
  return { issuer, maxDepth, tasks: budget.tasks, trust }
}
