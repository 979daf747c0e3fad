/**
 * What somebody answered, as the parts of a message. A secret is said in one place, which is marked, so that nobody keeps it:
 * not the hub, and not this page, which is told by `secrets` what it must not show.
 */
import { clientToolsExtension, credentialsExtension } from '@parley/a2a'
import type { Json, Part, Struct } from '@parley/a2a'
import type { Field } from './form-of.ts'
import type { Question } from './question-in.ts'

export interface Answer {
  readonly parts: readonly Part[]
  /** Values that are not to be seen anywhere. */
  readonly secrets: readonly Json[]
}

export function answerInWords({ isSecret, requestId }: Question, text: string): Answer {
  if (!isSecret) {
    return { parts: [{ text }, ...(requestId === undefined ? [] : [resultOf(requestId, text, false)])], secrets: [] }
  }
  const part: Part = requestId === undefined ? { text, metadata: sensitive } : resultOf(requestId, text, true)
  return { parts: [part], secrets: [text] }
}

export function answerByForm(question: Question, fields: readonly Field[], data: Struct): Answer {
  const { requestId } = question
  const hidden = fields.filter(({ isSecret }) => isSecret || question.isSecret).map(({ name }) => name)
  const secrets = hidden.flatMap((name) => (data[name] === undefined ? [] : [data[name]]))
  if (secrets.length > 0) {
    const part: Part =
      requestId === undefined
        ? { data, mediaType: 'application/json', metadata: sensitive }
        : resultOf(requestId, data, true)
    return { parts: [part], secrets }
  }
  const words = Object.entries(data).map(([name, value]) => `${name}: ${inWords(value)}`)
  const parts: readonly Part[] = [{ text: words.join('\n') }, { data, mediaType: 'application/json' }]
  return { parts: requestId === undefined ? parts : [...parts, resultOf(requestId, data, false)], secrets: [] }
}

export function answerWithCredentials(scheme: string | undefined, credentials: string): Answer {
  const data = scheme === undefined ? { credentials } : { scheme, credentials }
  const metadata = { [credentialsExtension]: { type: 'credentials' } }
  return { parts: [{ data, metadata }], secrets: [credentials] }
}

/** By the ids of the calls. */
export function answerWithResults(results: Readonly<Record<string, Json>>): Answer {
  return { parts: Object.entries(results).map(([id, result]) => resultOf(id, result, false)), secrets: [] }
}

const sensitive: Struct = { [credentialsExtension]: { sensitive: true } }

function resultOf(toolUseId: string, result: Json, isSecret: boolean): Part {
  const mark = isSecret ? { type: 'tool-result', sensitive: true } : { type: 'tool-result' }
  return { data: { toolUseId, result }, metadata: { [clientToolsExtension]: mark } }
}

function inWords(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const notShown = '(not shown)'

/** The same, with nothing in the place of what is secret: whatever equals a secret is gone, wherever it stands. */
export function concealed(value: Json, secrets: readonly Json[]): Json {
  if (secrets.length === 0) return value
  if (Array.isArray(value)) return value.map((one: Json) => concealed(one, secrets))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, concealed(one, secrets)]))
  }
  const isSecret = secrets.some((secret) => secret === value || leavesOf(secret).includes(value))
  return isSecret ? notShown : value
}

function leavesOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]
}
