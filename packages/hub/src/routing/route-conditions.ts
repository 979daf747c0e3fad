/** Whether a message matches the conditions of a route, and if not, why. Pure, so that a dry run can use it. */
import { isStruct, type Json, type Message, type Part, type Struct } from '@parley/a2a'
import { RE2JS } from 're2js'
import type { Route } from '../config/sections/routes.ts'
import { matchesPattern } from '../agents/name-pattern.ts'
import { textOfParts } from '../agents/part-reader.ts'

/** The facts about a message that conditions can test. */
export interface MessageFacts {
  readonly text: string
  readonly skill?: string
  /** The metadata of the message, overridden by that of the request. */
  readonly metadata: Struct
  /** The callers of the message: also the one on whose behalf other agents call. */
  readonly callers: readonly string[]
  /** `text`, `data`, `file`, and the media types. */
  readonly parts: readonly string[]
}

export type RouteConditions = NonNullable<Route['when']>

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
export function findMismatch(when: RouteConditions | undefined, facts: MessageFacts): string | undefined {
  const { text, regex, skill, metadata, caller, parts } = when ?? {}
  const said = facts.text.toLowerCase()
  if (text !== undefined && !text.some((one) => said.includes(one.toLowerCase()))) return 'the text contains none of it'
  if (regex !== undefined && !compilePattern(regex).matcher(facts.text).find()) return 'the text does not match'
  if (skill !== undefined && !skill.includes(facts.skill ?? '')) return 'the skill differs'
  const other = Object.entries(metadata ?? {}).find(([path, wanted]) => !isOneOf(valueAt(facts.metadata, path), wanted))
  if (other !== undefined) return `the metadata differs at ${other[0]}`
  if (caller !== undefined && !caller.some((pattern) => facts.callers.some((id) => matchesPattern(pattern, id))))
    return 'the caller differs'
  if (parts !== undefined && !parts.some((pattern) => facts.parts.some((kind) => matchesPattern(pattern, kind))))
    return 'it has no such part'
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
