/** Whether a message is one of those that a route is about, and if not, why: pure, so that it can be asked without sending any. */
import { RE2JS } from 're2js'
import type { Json, Message, Part, Struct } from '@parley/a2a'
import type { Route } from '../config/routes.ts'
import { fitsPattern } from '../agents/name-pattern.ts'

/** What is known of a message when it comes. */
export interface Facts {
  readonly text: string
  readonly skill?: string
  /** Of the message, and over it that of the request. */
  readonly metadata: Struct
  /** Whose message it is: also the one on whose behalf other agents call. */
  readonly callers: readonly string[]
  /** `text`, `data`, `file`, and the media types. */
  readonly parts: readonly string[]
}

export type Conditions = NonNullable<Route['when']>

/** Longer texts are looked at as far as this: an expression costs as much as the text is long. */
const mostCharacters = 20_000
const onBehalf = /^agent:[^|]*\|/

export function factsOf(
  message: Pick<Message, 'parts' | 'metadata'>,
  about: { readonly callerId: string; readonly metadata: Struct },
): Facts {
  const metadata = { ...message.metadata, ...about.metadata }
  const { skillId } = metadata as { readonly skillId?: Json }
  const texts = message.parts.flatMap((part) => ('text' in part ? [part.text] : []))
  return {
    text: texts.join('\n').slice(0, mostCharacters),
    ...(typeof skillId === 'string' ? { skill: skillId } : {}),
    metadata,
    callers: callersIn(about.callerId),
    parts: [...new Set(message.parts.flatMap(kindsOf))],
  }
}

/** What does not fit; nothing if all does. */
export function whatDoesNotFit(when: Conditions | undefined, facts: Facts): string | undefined {
  const { text, regex, skill, metadata, caller, parts } = when ?? {}
  const said = facts.text.toLowerCase()
  if (text !== undefined && !text.some((one) => said.includes(one.toLowerCase()))) return 'the text contains none of it'
  if (regex !== undefined && !expression(regex).matcher(facts.text).find()) return 'the text does not match'
  if (skill !== undefined && !skill.includes(facts.skill ?? '')) return 'it names another skill, or none'
  const other = Object.entries(metadata ?? {}).find(([path, wanted]) => !isOneOf(valueAt(facts.metadata, path), wanted))
  if (other !== undefined) return `its metadata say something else at ${other[0]}`
  if (caller !== undefined && !caller.some((pattern) => facts.callers.some((id) => fitsPattern(pattern, id))))
    return 'the caller is another'
  if (parts !== undefined && !parts.some((pattern) => facts.parts.some((kind) => fitsPattern(pattern, kind))))
    return 'it has no such part'
  return undefined
}

/** Made once for each; the configuration has checked it. */
const made = new Map<string, RE2JS>()
function expression(pattern: string): RE2JS {
  const known = made.get(pattern) ?? RE2JS.compile(pattern)
  made.set(pattern, known)
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
    const isStruct = typeof at === 'object' && at !== null && !Array.isArray(at)
    return isStruct && Object.hasOwn(at, key) ? (at as Struct)[key] : undefined
  }, metadata)
}

function isOneOf(value: Json | undefined, wanted: Json): boolean {
  return Array.isArray(wanted) ? wanted.includes(value) : value === wanted
}
