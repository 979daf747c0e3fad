/**
 * The agent directory of a user at a terminal: a hub that is called by its address, agents that were configured one by one,
 * and, through the guarded fetch, agents at addresses that a model chooses.
 */
import { A2AError } from '@parley/a2a'
import { connect, type ConnectOptions, type Fetch } from '@parley/a2a/client'
import { systemClock } from '@parley/a2a/internal'
import { fetchHubCatalog } from './hub-catalog.ts'
import type { AgentProfile, AgentDirectory, DirectoryAgent } from './agent-directory.ts'
import { createRemoteAgent, profileOfCard } from './remote-agent.ts'

export interface ClientDirectoryDeps {
  readonly hub?: { readonly url: string; readonly key?: string | undefined } | undefined
  /** Agents by their addresses, with their credentials. */
  readonly agents: readonly string[]
  readonly bearer?: string | undefined
  /** For addresses that the user configured. */
  readonly fetch: Fetch
  /** For addresses that a caller chooses. If omitted, callers cannot choose addresses. */
  readonly guardedFetch?: Fetch | undefined
}

interface AgentLocation {
  readonly name: string
  readonly url: string
  readonly options: ConnectOptions
  readonly skills?: readonly string[] | undefined
}

/** How long a list of agents is cached. */
const freshMs = 30_000

export function createClientDirectory(
  deps: ClientDirectoryDeps,
  monotonicNow = systemClock.monotonicNow,
): AgentDirectory {
  let known: { readonly places: Promise<readonly AgentLocation[]>; readonly at: number } | undefined

  function locations(signal: AbortSignal): Promise<readonly AgentLocation[]> {
    if (known === undefined || monotonicNow() - known.at > freshMs) {
      const found = find(signal)
      known = { places: found, at: monotonicNow() }
      found.catch(() => (known = undefined))
    }
    return known.places
  }

  async function find(signal: AbortSignal): Promise<readonly AgentLocation[]> {
    const listed = deps.hub === undefined ? [] : await hubLocations(deps.hub, deps.fetch, signal)
    const named = await Promise.all(deps.agents.map((url) => locationOf(url, signal)))
    return withUniqueNames([...listed, ...named])
  }

  async function locationOf(url: string, signal: AbortSignal): Promise<AgentLocation> {
    const options: ConnectOptions = { fetch: deps.fetch, ...credentials(deps.bearer) }
    const card = await connect(url, { ...options, signal }).then(
      (agent) => agent.card,
      () => undefined,
    )
    return { name: nameOf(card?.name ?? new URL(url).hostname), url, options }
  }

  async function connectTo(
    { name, url, options, skills }: AgentLocation,
    signal: AbortSignal,
  ): Promise<DirectoryAgent> {
    const agent = await connect(url, { ...options, signal })
    const profile = profileOfCard(agent.card, url, name)
    const own = skills === undefined ? profile.skills : profile.skills.filter(({ id }) => skills.includes(id))
    return createRemoteAgent(agent, { agent: name }, { ...profile, skills: own })
  }

  const { guardedFetch } = deps
  return {
    async agents(signal) {
      const all = await locations(signal)
      return Promise.all(
        all.map((location) =>
          connectTo(location, signal).then(
            ({ profile }) => profile,
            () => unavailableProfile(location),
          ),
        ),
      )
    },
    async agent(name, signal) {
      const found = (await locations(signal)).find((location) => location.name === name)
      if (found === undefined) throw new A2AError('AGENT_UNAVAILABLE', 'Unknown agent: see list_agents')
      return connectTo(found, signal)
    },
    ...(guardedFetch !== undefined ? { remote: createRemoteLookup(guardedFetch) } : {}),
  }
}

/** Reaches agents at addresses that callers choose: no credentials are sent to them. */
export function createRemoteLookup(fetch: Fetch): NonNullable<AgentDirectory['remote']> {
  return async (url, signal) => {
    const agent = await connect(addressOf(url), { fetch, signal, limits: remoteLimits })
    return createRemoteAgent(agent, { url }, profileOfCard(agent.card, url))
  }
}

/** Limits for untrusted agents. */
const remoteLimits = { maxBodyBytes: 20_000_000, maxEventBytes: 20_000_000, attempts: 2 }

function addressOf(url: string): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw new A2AError('INVALID_PARAMS', 'url must be an http or https URL such as https://agent.example.com')
}

async function hubLocations(
  { url, key }: NonNullable<ClientDirectoryDeps['hub']>,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly AgentLocation[]> {
  const entries = await fetchHubCatalog(url, key, fetch, signal)
  return entries.map(({ name, url: at, isOwn, skills }) => ({
    name,
    url: at,
    skills,
    options: { fetch, ...credentials(isOwn ? key : undefined) },
  }))
}

function credentials(bearer: string | undefined): { readonly bearer?: string } {
  return bearer === undefined ? {} : { bearer }
}

/** Makes names of agents with the same title unique. */
function withUniqueNames(locations: readonly AgentLocation[]): readonly AgentLocation[] {
  const taken = new Set<string>()
  return locations.map((location) => {
    let { name } = location
    for (let count = 2; taken.has(name); count += 1) name = `${location.name}-${count}`
    taken.add(name)
    return { ...location, name }
  })
}

/** `Trip Planner` becomes `trip-planner`. */
function nameOf(title: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
  return name === '' ? 'agent' : name
}

function unavailableProfile({ name, url }: AgentLocation): AgentProfile {
  const nothing = { version: '', skills: [], inputModes: [], outputModes: [] }
  return { name, title: name, description: 'It cannot be reached now.', url, isAvailable: false, ...nothing }
}
