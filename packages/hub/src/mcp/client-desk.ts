/**
 * The desk of somebody at a terminal: a hub that is called by its address, agents that were named one by one, and, through
 * the guard, agents at addresses that a model names.
 */
import { A2AError } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { ConnectOptions, Fetch } from '@parley/a2a/client'
import { systemClock } from '@parley/a2a/server'
import { readCatalog } from './catalog.ts'
import type { AgentProfile, Desk, DeskAgent } from './desk.ts'
import { createRemoteAgent, profileOfCard } from './remote-agent.ts'

export interface ClientDeskParts {
  readonly hub?: { readonly url: string; readonly key?: string | undefined } | undefined
  /** Agents by their addresses, with what proves who calls them. */
  readonly agents: readonly string[]
  readonly bearer?: string | undefined
  /** For what was named by whoever started the program. */
  readonly fetch: Fetch
  /** For addresses that a caller names. Left out: none may be named. */
  readonly guardedFetch?: Fetch | undefined
}

interface Place {
  readonly name: string
  readonly url: string
  readonly options: ConnectOptions
  readonly skills?: readonly string[] | undefined
}

/** How long a list of agents is believed. */
const freshMs = 30_000

export function createClientDesk(parts: ClientDeskParts, monotonicNow = systemClock.monotonicNow): Desk {
  let known: { readonly places: Promise<readonly Place[]>; readonly at: number } | undefined

  function places(signal: AbortSignal): Promise<readonly Place[]> {
    if (known === undefined || monotonicNow() - known.at > freshMs) {
      const found = find(signal)
      known = { places: found, at: monotonicNow() }
      found.catch(() => (known = undefined))
    }
    return known.places
  }

  async function find(signal: AbortSignal): Promise<readonly Place[]> {
    const listed = parts.hub === undefined ? [] : await placesOfHub(parts.hub, parts.fetch, signal)
    const named = await Promise.all(parts.agents.map((url) => placeOf(url, signal)))
    return withNames([...listed, ...named])
  }

  async function placeOf(url: string, signal: AbortSignal): Promise<Place> {
    const options: ConnectOptions = { fetch: parts.fetch, ...credentials(parts.bearer) }
    const card = await connect(url, { ...options, signal }).then(
      (agent) => agent.card,
      () => undefined,
    )
    return { name: nameOf(card?.name ?? new URL(url).hostname), url, options }
  }

  async function reach({ name, url, options, skills }: Place, signal: AbortSignal): Promise<DeskAgent> {
    const agent = await connect(url, { ...options, signal })
    const profile = profileOfCard(agent.card, url, name)
    const own = skills === undefined ? profile.skills : profile.skills.filter(({ id }) => skills.includes(id))
    return createRemoteAgent(agent, { agent: name }, { ...profile, skills: own })
  }

  const { guardedFetch } = parts
  return {
    async agents(signal) {
      const all = await places(signal)
      return Promise.all(
        all.map((place) =>
          reach(place, signal).then(
            ({ profile }) => profile,
            () => lost(place),
          ),
        ),
      )
    },
    async agent(name, signal) {
      const found = (await places(signal)).find((place) => place.name === name)
      if (found === undefined) throw new A2AError('AGENT_UNAVAILABLE', 'There is no such agent: see list_agents')
      return reach(found, signal)
    },
    ...(guardedFetch !== undefined ? { remote: remoteReach(guardedFetch) } : {}),
  }
}

/** Reaches agents at addresses that strangers name: nothing is shown to them that proves who we are. */
export function remoteReach(fetch: Fetch): NonNullable<Desk['remote']> {
  return async (url, signal) => {
    const agent = await connect(addressOf(url), { fetch, signal, limits: strangerLimits })
    return createRemoteAgent(agent, { url }, profileOfCard(agent.card, url))
  }
}

/** Of somebody whom nobody vouches for. */
const strangerLimits = { maxBodyBytes: 20_000_000, maxEventBytes: 20_000_000, attempts: 2 }

function addressOf(url: string): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw new A2AError('INVALID_PARAMS', 'url: give an http or https url such as https://agent.example.com')
}

async function placesOfHub(
  { url, key }: NonNullable<ClientDeskParts['hub']>,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly Place[]> {
  const entries = await readCatalog(url, key, fetch, signal)
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

/** Two agents that call themselves alike are told apart. */
function withNames(places: readonly Place[]): readonly Place[] {
  const taken = new Set<string>()
  return places.map((place) => {
    let { name } = place
    for (let count = 2; taken.has(name); count += 1) name = `${place.name}-${count}`
    taken.add(name)
    return { ...place, name }
  })
}

/** `Trip Planner` is called `trip-planner`. */
function nameOf(title: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
  return name === '' ? 'agent' : name
}

function lost({ name, url }: Place): AgentProfile {
  const nothing = { version: '', skills: [], inputModes: [], outputModes: [] }
  return { name, title: name, description: 'It cannot be reached now.', url, isAvailable: false, ...nothing }
}
