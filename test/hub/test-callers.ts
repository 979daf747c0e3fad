/** The callers with their credentials and permissions: the other half of the oracle of caller-isolation.test.ts. */
import type { Operation } from '@parley/a2a/internal'
import type { AccessServer, AuthHeaders } from './access-server.ts'

export interface TestCaller {
  readonly name: string
  readonly headers: AuthHeaders
  /** The owner of their tasks. */
  readonly principal: string
  readonly agents: readonly string[]
  /** Absent: all of them. */
  readonly operations?: readonly Operation[]
}

export const agentNames = ['team', 'hidden', 'open'] as const

const reading: readonly Operation[] = ['GetTask', 'ListTasks', 'SubscribeToTask', 'GetExtendedAgentCard']

export async function createTestCallers({ admin, one, two }: AccessServer): Promise<readonly TestCaller[]> {
  const key = async (order: object): Promise<{ proof: AuthHeaders; principal: string; byHeader: AuthHeaders }> => {
    const { json } = await admin('POST', '/admin/keys', { name: 'x', ...order })
    const { key: secret, principal } = json
    return { proof: { authorization: `Bearer ${secret}` }, byHeader: { 'x-api-key': secret }, principal }
  }
  const everywhere = [...agentNames]
  const ann = await key({ agents: ['team', 'hidden'] })
  const other = await key({ scopes: ['agent:team'], principal: ann.principal })
  const reader = await key({ scopes: ['agent:team', 'agent:hidden', 'operation:read'], principal: ann.principal })
  const bob = await key({ scopes: ['agent:team'] })
  const root = await key({ scopes: ['agent:*'] })
  const eve = await key({ scopes: ['agent:open'] })
  const bearing = async (token: Promise<string>): Promise<AuthHeaders> => ({ authorization: `Bearer ${await token}` })
  const carol = await bearing(one.token({ sub: 'carol', groups: ['team'] }))
  const namesake = await bearing(two.token({ sub: 'carol', groups: ['team'] }))
  const dora = await bearing(one.token({ sub: 'dora', groups: ['all'] }))
  const outsider = await bearing(one.token({ sub: 'outsider' }))
  return [
    { name: 'ann', headers: ann.proof, principal: ann.principal, agents: everywhere },
    { name: 'ann by header', headers: ann.byHeader, principal: ann.principal, agents: everywhere },
    { name: 'ann with another key', headers: other.proof, principal: ann.principal, agents: ['team', 'open'] },
    {
      name: 'ann who may read',
      headers: reader.proof,
      principal: ann.principal,
      agents: everywhere,
      operations: reading,
    },
    { name: 'bob', headers: bob.proof, principal: bob.principal, agents: ['team', 'open'] },
    { name: 'root', headers: root.proof, principal: root.principal, agents: everywhere },
    { name: 'eve', headers: eve.proof, principal: eve.principal, agents: ['open'] },
    { name: 'carol', headers: carol, principal: 'https://one.test|carol', agents: ['team', 'open'] },
    {
      name: 'carol of another issuer',
      headers: namesake,
      principal: 'https://two.test|carol',
      agents: ['team', 'open'],
    },
    { name: 'dora', headers: dora, principal: 'https://one.test|dora', agents: everywhere },
    {
      name: 'a caller without permissions',
      headers: outsider,
      principal: 'https://one.test|outsider',
      agents: ['open'],
    },
    { name: 'anonymous', headers: {}, principal: 'anonymous', agents: ['open'] },
  ]
}
