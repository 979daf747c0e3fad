/**
 * Decides which agent a message goes to, and why; the same function serves real messages and dry runs. The caller passes the random
 * source and the health of the agents.
 */
import type { Route } from '../config/sections/routes.ts'
import type { Json, Message, Part, Struct } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import { RE2JS } from 're2js'
import { matchesPattern } from '../agents/name-pattern.ts'
import { textOfParts } from '../agents/part-reader.ts'

export interface AgentAvailability {
  /** `over`: already part of this chain, or not permitted for this caller. */
  readonly state: 'up' | 'slow' | 'down' | 'over'
  readonly why?: string
}

export interface RouteCandidate {
  readonly agent: string
  readonly state: AgentAvailability['state']
  readonly why?: string
}

/** The evaluation of one route. */
export interface ConsideredRoute {
  /** Its index in the configuration. */
  readonly route: number
  readonly name?: string
  readonly fits: boolean
  readonly why: string
}

export interface RouteDecision {
  /** The matching route; `undefined` if the agent handles the message itself. */
  readonly route?: number
  readonly name?: string
  readonly why: string
  /** The candidates, best first. Empty if none is available. */
  readonly to: readonly string[]
  /** All agents of the route, with their state. */
  readonly candidates: readonly RouteCandidate[]
  readonly considered: readonly ConsideredRoute[]
}

export interface DecideRouteOptions {
  readonly agent: string
  readonly routes: readonly Route[]
  readonly facts: MessageFacts
  availability(agent: string): AgentAvailability
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

export function decideRoute({ agent, routes, facts, availability, random }: DecideRouteOptions): RouteDecision {
  const considered: ConsideredRoute[] = []
  for (const { route, index } of routesByPriority(routes, agent)) {
    const named = route.name === undefined ? {} : { name: route.name }
    const mismatch = findMismatch(route.when, facts)
    const candidates = mismatch === undefined ? candidatesOf(route, availability) : []
    const isOver = mismatch === undefined && candidates.every(({ state }) => state === 'over')
    const why =
      mismatch ?? (isOver ? `none of its agents can be called: ${candidateReasons(candidates)}` : 'it matches')
    considered.push({ route: index, ...named, fits: mismatch === undefined && !isOver, why })
    if (mismatch !== undefined || isOver) continue
    const to = orderCandidates(route, candidates, random)
    const reason =
      to.length === 0 ? `all of its agents are down: ${candidateReasons(candidates)}` : reasonFor(route, to, candidates)
    return { route: index, ...named, why: reason, to, candidates, considered }
  }
  const why = considered.length === 0 ? 'this agent has no routes' : 'none of its routes matches'
  return { why, to: [agent], candidates: [], considered }
}

/** Highest priority first; equal priorities in configuration order. */
function routesByPriority(routes: readonly Route[], agent: string) {
  return routes
    .map((route, index) => ({ route, index }))
    .filter(({ route }) => route.from.includes(agent))
    .toSorted((one, other) => other.route.priority - one.route.priority)
}

function candidatesOf(
  { to, fallback }: Route,
  availability: DecideRouteOptions['availability'],
): readonly RouteCandidate[] {
  const names = [...new Set([...to.map((one) => one.agent), ...fallback])]
  return names.map((agent) => ({ agent, ...availability(agent) }))
}

/** Available agents by weight, then the fallback; slow agents after all others. */
function orderCandidates(route: Route, candidates: readonly RouteCandidate[], random: () => number): readonly string[] {
  const stateOf = new Map(candidates.map(({ agent, state }) => [agent, state]))
  const of = (state: AgentAvailability['state']): readonly string[] => [
    ...byWeight(
      route.to.filter(({ agent }) => stateOf.get(agent) === state),
      random,
    ),
    ...route.fallback.filter((agent) => stateOf.get(agent) === state),
  ]
  return [...new Set([...of('up'), ...of('slow')])]
}

function byWeight(given: Route['to'], random: () => number): readonly string[] {
  const remaining = [...given]
  const drawn: string[] = []
  while (remaining.length > 0) {
    let draw = random() * remaining.reduce((sum, { weight }) => sum + weight, 0)
    const found = remaining.findIndex(({ weight }) => (draw -= weight) < 0)
    drawn.push(...remaining.splice(Math.max(0, found), 1).map(({ agent }) => agent))
  }
  return drawn
}

function reasonFor(route: Route, [first = '']: readonly string[], candidates: readonly RouteCandidate[]): string {
  const better = route.to.some(({ agent }) => agent === first)
    ? []
    : candidates.filter(({ agent, state }) => state !== 'up' && route.to.some((one) => one.agent === agent))
  return better.length === 0 ? 'it matches' : `it matches; fallback to ${first}: ${candidateReasons(better)}`
}

function candidateReasons(candidates: readonly RouteCandidate[]): string {
  return candidates.map(({ agent, state, why }) => `${agent}: ${why ?? state}`).join('; ')
}

/** The facts about a message that conditions can test. */
interface MessageFacts {
  readonly text: string
  readonly skill?: string
  /** The metadata of the message, overridden by that of the request. */
  readonly metadata: Struct
  /** The callers of the message: also the one on whose behalf other agents call. */
  readonly callers: readonly string[]
  /** `text`, `data`, `file`, and the media types. */
  readonly parts: readonly string[]
}

type RouteConditions = NonNullable<Route['when']>

/** Longer texts are truncated: the cost of an expression grows with the text. */
const maxTextLength = 20_000
const onBehalf = /^agent:[^|]*\|/

export function messageFacts(
  message: Pick<Message, 'parts' | 'metadata'>,
  about: { readonly callerId: string; readonly metadata: Struct },
): MessageFacts {
  const metadata = { ...message.metadata, ...about.metadata }
  const { skillId } = metadata as { readonly skillId?: Json }
  return {
    text: textOfParts(message.parts).slice(0, maxTextLength),
    ...(typeof skillId === 'string' ? { skill: skillId } : {}),
    metadata,
    callers: callersIn(about.callerId),
    parts: [...new Set(message.parts.flatMap(kindsOf))],
  }
}

/** The first condition that does not match; `undefined` if all match. */
function findMismatch(when: RouteConditions | undefined, facts: MessageFacts): string | undefined {
  const { text, regex, skill, metadata, caller, parts } = when ?? {}
  const said = facts.text.toLowerCase()
  if (text !== undefined && !text.some((one) => said.includes(one.toLowerCase())))
    return 'the text contains none of the phrases'
  if (regex !== undefined && !compilePattern(regex).matcher(facts.text).find()) return 'the text does not match'
  if (skill !== undefined && !skill.includes(facts.skill ?? '')) return 'the skill differs'
  const other = Object.entries(metadata ?? {}).find(([path, wanted]) => !isOneOf(valueAt(facts.metadata, path), wanted))
  if (other !== undefined) return `the metadata differs at ${other[0]}`
  if (caller !== undefined && !caller.some((pattern) => facts.callers.some((id) => matchesPattern(pattern, id))))
    return 'the caller differs'
  if (parts !== undefined && !parts.some((pattern) => facts.parts.some((kind) => matchesPattern(pattern, kind))))
    return 'it has no part of this type'
  return undefined
}

/** Compiled once per pattern; the configuration has validated it. */
const compiledPatterns = new Map<string, RE2JS>()
function compilePattern(pattern: string): RE2JS {
  const known = compiledPatterns.get(pattern) ?? RE2JS.compile(pattern)
  compiledPatterns.set(pattern, known)
  return known
}

function callersIn(id: string): readonly string[] {
  return onBehalf.test(id) ? [id, ...callersIn(id.replace(onBehalf, ''))] : [id]
}

function kindsOf(part: Part): readonly string[] {
  const kind = 'text' in part ? 'text' : 'data' in part ? 'data' : 'file'
  return part.mediaType === undefined ? [kind] : [kind, part.mediaType.toLowerCase()]
}

function valueAt(metadata: Struct, path: string): Json | undefined {
  if (Object.hasOwn(metadata, path)) return metadata[path]
  return path.split('.').reduce<Json | undefined>((at, key) => {
    return isStruct(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, metadata)
}

function isOneOf(value: Json | undefined, wanted: Json): boolean {
  return Array.isArray(wanted) ? wanted.includes(value) : value === wanted
}
