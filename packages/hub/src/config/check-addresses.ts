/** Where agents are reached: no two at one gRPC address, a default or none, and something left on every card. */
import { authorityOf } from '@parley/a2a/server'
import type { AgentConfig, Sections } from './config.ts'
import type { Path } from './path.ts'
import type { Problem } from './problem.ts'

type Agents = Readonly<Record<string, AgentConfig>>

export function checkAddresses(given: Partial<Sections>, agents: Agents): readonly Problem[] {
  return [...checkGrpc(given, agents), ...checkDefault(given, agents), ...checkInterfaces(given, agents)]
}

function checkGrpc({ listen, grpcUrl }: Partial<Sections>, agents: Agents): readonly Problem[] {
  const problems: Problem[] = []
  const owners = new Map<string, string>()
  const claim = (address: number | string | false | undefined, owner: string, path: Path): void => {
    // 0 takes a free port, which is no other's.
    if (address === undefined || address === false || address === 0) return
    // As calls are told apart: `a.example.com` and `A.example.com:443` are one.
    const key = typeof address === 'string' ? authorityOf(address) : String(address)
    const other = owners.get(key)
    if (other === undefined) owners.set(key, owner)
    else problems.push({ path, message: `is already that of ${other}` })
  }
  claim(listen?.port, 'listen.port', ['listen', 'port'])
  claim(listen?.grpcPort, 'listen.grpcPort', ['listen', 'grpcPort'])
  claim(grpcUrl, 'grpcUrl', ['grpcUrl'])
  for (const [name, agent] of Object.entries(agents)) {
    claim(agent.grpcPort, `the agent ${name}`, ['agents', name, 'grpcPort'])
    claim(agent.grpcUrl, `the agent ${name}`, ['agents', name, 'grpcUrl'])
  }
  return problems
}

function checkDefault({ default: none }: Partial<Sections>, agents: Agents): readonly Problem[] {
  if (none === undefined) return []
  return Object.entries(agents).flatMap(([name, agent]) =>
    agent.default
      ? [{ path: ['agents', name, 'default'], message: 'the hub says `default: none`: leave out one of them' }]
      : [],
  )
}

/** What is not spoken is not on the card either. */
function checkInterfaces({ listen, grpcUrl, card }: Partial<Sections>, agents: Agents): readonly Problem[] {
  const isShared = grpcUrl !== undefined || listen?.grpcPort !== false
  return Object.entries(agents).flatMap(([name, agent]) => {
    const omitted = agent.card.omitInterfaces ?? card?.omitInterfaces ?? []
    const isSpoken = isShared || agent.grpcPort !== undefined || agent.grpcUrl !== undefined
    const spoken = ['JSONRPC', 'HTTP+JSON', ...(isSpoken ? ['GRPC'] : [])]
    if (!spoken.every((binding) => omitted.some((one) => one === binding))) return []
    const path = agent.card.omitInterfaces === undefined ? ['card'] : ['agents', name, 'card']
    return [{ path: [...path, 'omitInterfaces'], message: `leave at least one interface on the card of ${name}` }]
  })
}
