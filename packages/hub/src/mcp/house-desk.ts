/**
 * The desk of one request at `/mcp`: the hub's own agents as whoever sent it may see them, and the way to those elsewhere for
 * who may have addresses called.
 */
import { A2AError } from '@parley/a2a'
import type { Caller } from '@parley/a2a'
import type { AgentSettings } from '@parley/a2a/server'
import { audited } from './audited.ts'
import type { AgentProfile, Desk } from './desk.ts'
import { createHouseAgent } from './house-agent.ts'
import { createVisits } from './visits.ts'
import type { Visits, VisitsParts } from './visits.ts'

export interface HouseDeskParts extends VisitsParts {
  /** Of all agents, whoever may use them. */
  names(): readonly string[]
  agentSettings(agent: string): AgentSettings | undefined
  /** Whether it takes messages now. */
  isOpen(agent: string): boolean
  /** Where the agent is reached. */
  url(agent: string): string
  /** What the caller may use of an agent: all of it unless skills are named. Nothing if it may not use it. */
  admitted(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
}

export interface HouseRequest {
  readonly caller: Caller
  readonly credentials: Parameters<typeof createVisits>[1]
  /** There if the caller may have the hub call addresses that it names. */
  readonly remote?: Desk['remote']
}

export function createHouseDesk(parts: HouseDeskParts, { caller, credentials, remote }: HouseRequest): Desk {
  const visits = createVisits(parts, credentials)
  return {
    async agents() {
      return parts.names().flatMap((name) => profileOf(parts, caller, name) ?? [])
    },
    async agent(name) {
      const profile = profileOf(parts, caller, name)
      if (profile === undefined) return refuse(visits, name)
      return createHouseAgent(profile, name, parts.agentSettings(name)?.streaming !== false, visits)
    },
    ...(remote !== undefined ? { remote: counted(remote) } : {}),
  }

  function counted(reach: NonNullable<Desk['remote']>): NonNullable<Desk['remote']> {
    return async (url, signal) => {
      await visits.knock(caller)
      return audited(await reach(url, signal), url, caller, parts.onAnswer)
    }
  }
}

/** Nothing for an agent that is not there, or not for this caller. */
function profileOf(parts: HouseDeskParts, caller: Caller, name: string): AgentProfile | undefined {
  const settings = parts.agentSettings(name)
  const admitted = settings === undefined ? undefined : parts.admitted(caller, name)
  if (settings === undefined || admitted === undefined) return undefined
  const { description = '', version = '1.0.0', provider, documentationUrl, skills = [] } = settings
  const { skills: only } = admitted
  return {
    name,
    title: settings.name ?? name,
    description,
    version,
    url: parts.url(name),
    skills: only === undefined ? skills : skills.filter(({ id }) => only.includes(id)),
    inputModes: settings.inputModes ?? [],
    outputModes: settings.outputModes ?? [],
    ...(provider !== undefined ? { provider: provider.organization } : {}),
    ...(documentationUrl !== undefined ? { documentationUrl } : {}),
    isAvailable: parts.isOpen(name),
  }
}

/** Asking for what is not there is counted and audited like any other call, and always answered alike (B-153). */
async function refuse(visits: Visits, name: string): Promise<never> {
  const gone = new A2AError('AGENT_UNAVAILABLE', 'There is no such agent here: list_agents says which there are')
  await visits
    .call({ agent: name }, () => Promise.reject(gone))
    .catch((reason: unknown) => {
      // Who comes too often is told so, whatever they ask for.
      if (reason instanceof A2AError && reason.code === 'RATE_LIMITED') throw reason
    })
  throw gone
}
