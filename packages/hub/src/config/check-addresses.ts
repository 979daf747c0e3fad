/**
 * Checks the addresses of the agents: unique gRPC addresses, at most one default agent, at least one interface on every
 * card.
 */
import { authorityOf, bindingNames } from '@parley/a2a/internal'
import type { AgentConfig, ConfigSections } from './hub-config.ts'
import { listsSharedGrpc, sharedGrpcPort } from './sections/listen.ts'
import type { ConfigPath, ConfigProblem } from './config-problem.ts'

type Agents = Readonly<Record<string, AgentConfig>>

export function checkAddresses(given: Partial<ConfigSections>, agents: Agents): readonly ConfigProblem[] {
  return [...checkGrpc(given, agents), ...checkDefault(given, agents), ...checkInterfaces(given, agents)]
}

function checkGrpc({ listen, grpcUrl }: Partial<ConfigSections>, agents: Agents): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const owners = new Map<string, string>()
  const claim = (address: number | string | false | undefined, owner: string, path: ConfigPath): void => {
    // Port 0 requests a free port, so it never conflicts.
    if (address === undefined || address === false || address === 0) return
    // Compared as calls are routed: `a.example.com` and `A.example.com:443` are the same address.
    const key = typeof address === 'string' ? authorityOf(address) : String(address)
    const other = owners.get(key)
    if (other === undefined) owners.set(key, owner)
    else problems.push({ path, message: `is already used by ${other}` })
  }
  claim(listen?.port, 'listen.port', ['listen', 'port'])
  claim(listen && sharedGrpcPort(listen), 'listen.grpcPort', ['listen', 'grpcPort'])
  claim(grpcUrl, 'grpcUrl', ['grpcUrl'])
  for (const [name, agent] of Object.entries(agents)) {
    claim(agent.grpcPort, `the agent ${name}`, ['agents', name, 'grpcPort'])
    claim(agent.grpcUrl, `the agent ${name}`, ['agents', name, 'grpcUrl'])
  }
  return problems
}

function checkDefault({ default: none }: Partial<ConfigSections>, agents: Agents): readonly ConfigProblem[] {
  if (none === undefined) return []
  return Object.entries(agents).flatMap(([name, agent]) =>
    agent.default
      ? [
          {
            path: ['agents', name, 'default'],
            message: 'conflicts with `default: none` of the hub: remove one of them',
          },
        ]
      : [],
  )
}

/** gRPC is on a card only if its address was set. */
function checkInterfaces({ listen, grpcUrl, card }: Partial<ConfigSections>, agents: Agents): readonly ConfigProblem[] {
  const listsShared = listen === undefined || listsSharedGrpc({ listen, grpcUrl })
  return Object.entries(agents).flatMap(([name, agent]) => {
    const omitted = agent.card.omitInterfaces ?? card?.omitInterfaces ?? []
    const listsGrpc = listsShared || agent.grpcPort !== undefined || agent.grpcUrl !== undefined
    const listedBindings = bindingNames.filter((binding) => binding !== 'GRPC' || listsGrpc)
    if (!listedBindings.every((binding) => omitted.includes(binding))) return []
    const path = agent.card.omitInterfaces === undefined ? ['card'] : ['agents', name, 'card']
    return [{ path: [...path, 'omitInterfaces'], message: `must leave at least one interface on the card of ${name}` }]
  })
}
