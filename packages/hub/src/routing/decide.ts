/**
 * Which agent a message goes to, and why: the same answer for a message that came and for one that somebody only asks about.
 * Chance, and how the agents are, come in by the door.
 */
import type { Route } from '../config/routes.ts'
import { whatDoesNotFit } from './match.ts'
import type { Facts } from './match.ts'

export interface Standing {
  /** `over`: it is at work on this already, or not for this caller. */
  readonly state: 'up' | 'slow' | 'down' | 'over'
  readonly why?: string
}

export interface Candidate {
  readonly agent: string
  readonly state: Standing['state']
  readonly why?: string
}

/** What was found out about one route. */
export interface Considered {
  /** Its place in the configuration, from 0. */
  readonly route: number
  readonly name?: string
  readonly fits: boolean
  readonly why: string
}

export interface Decision {
  /** The route that fits; nothing if the agent does the work itself. */
  readonly route?: number
  readonly name?: string
  readonly why: string
  /** Who may do it, the best first. Empty: nobody can now. */
  readonly to: readonly string[]
  /** All of the route's agents, as they are. */
  readonly candidates: readonly Candidate[]
  readonly considered: readonly Considered[]
}

export interface DecideParts {
  readonly agent: string
  readonly routes: readonly Route[]
  readonly facts: Facts
  standing(agent: string): Standing
  /** From 0 up to 1. */
  readonly random: () => number
}

export function decide({ agent, routes, facts, standing, random }: DecideParts): Decision {
  const considered: Considered[] = []
  for (const { route, index } of inOrder(routes, agent)) {
    const named = route.name === undefined ? {} : { name: route.name }
    const misfit = whatDoesNotFit(route.when, facts)
    const candidates = misfit === undefined ? candidatesOf(route, standing) : []
    const isOver = misfit === undefined && candidates.every(({ state }) => state === 'over')
    const why = misfit ?? (isOver ? `none of its agents can be asked: ${reasons(candidates)}` : 'it fits')
    considered.push({ route: index, ...named, fits: misfit === undefined && !isOver, why })
    if (misfit !== undefined || isOver) continue
    const to = order(route, candidates, random)
    const told =
      to.length === 0 ? `all of its agents are down: ${reasons(candidates)}` : reasonFor(route, to, candidates)
    return { route: index, ...named, why: told, to, candidates, considered }
  }
  const why = considered.length === 0 ? 'there are no routes for this agent' : 'none of its routes fits'
  return { why, to: [agent], candidates: [], considered }
}

/** The highest first; of equals, the one that stands first. */
function inOrder(routes: readonly Route[], agent: string) {
  return routes
    .map((route, index) => ({ route, index }))
    .filter(({ route }) => route.from.includes(agent))
    .toSorted((one, other) => other.route.priority - one.route.priority)
}

function candidatesOf({ to, fallback }: Route, standing: DecideParts['standing']): readonly Candidate[] {
  const names = [...new Set([...to.map((one) => one.agent), ...fallback])]
  return names.map((agent) => ({ agent, ...standing(agent) }))
}

/** Those that are up, as the weights have it, then the fallback; those that are slow after all that are not. */
function order(route: Route, candidates: readonly Candidate[], random: () => number): readonly string[] {
  const stateOf = new Map(candidates.map(({ agent, state }) => [agent, state]))
  const of = (state: Standing['state']): readonly string[] => [
    ...byWeight(
      route.to.filter(({ agent }) => stateOf.get(agent) === state),
      random,
    ),
    ...route.fallback.filter((agent) => stateOf.get(agent) === state),
  ]
  return [...new Set([...of('up'), ...of('slow')])]
}

function byWeight(given: Route['to'], random: () => number): readonly string[] {
  const left = [...given]
  const drawn: string[] = []
  while (left.length > 0) {
    let ticket = random() * left.reduce((sum, { weight }) => sum + weight, 0)
    const found = left.findIndex(({ weight }) => (ticket -= weight) < 0)
    drawn.push(...left.splice(Math.max(0, found), 1).map(({ agent }) => agent))
  }
  return drawn
}

function reasonFor(route: Route, [first = '']: readonly string[], candidates: readonly Candidate[]): string {
  const better = route.to.some(({ agent }) => agent === first)
    ? []
    : candidates.filter(({ agent, state }) => state !== 'up' && route.to.some((one) => one.agent === agent))
  return better.length === 0 ? 'it fits' : `it fits, and ${first} stands in: ${reasons(better)}`
}

function reasons(candidates: readonly Candidate[]): string {
  return candidates.map(({ agent, state, why }) => `${agent}: ${why ?? state}`).join('; ')
}
