/**
 * Builds the parts of an answer. A secret goes into one marked part, so that neither the hub nor this page stores it; `secrets`
 * lists the values that the page must not show.
 */
import { clientToolsExtension, credentialsExtension, type Json, type Part, type Struct } from '@parley/a2a'
import type { FormField } from './schema-form.ts'
import type { AgentQuestion } from './parse-question.ts'

export interface QuestionAnswer {
  readonly parts: readonly Part[]
  /** Values that must not be shown anywhere. */
  readonly secrets: readonly Json[]
}

export function answerWithText({ isSecret, requestId }: AgentQuestion, text: string): QuestionAnswer {
  if (!isSecret) {
    return {
      parts: [{ text }, ...(requestId === undefined ? [] : [toolResultPart(requestId, text, false)])],
      secrets: [],
    }
  }
  const part: Part = requestId === undefined ? { text, metadata: sensitive } : toolResultPart(requestId, text, true)
  return { parts: [part], secrets: [text] }
}

export function answerWithForm(question: AgentQuestion, fields: readonly FormField[], data: Struct): QuestionAnswer {
  const { requestId } = question
  const hidden = fields.filter(({ isSecret }) => isSecret || question.isSecret).map(({ name }) => name)
  const secrets = hidden.flatMap((name) => (data[name] === undefined ? [] : [data[name]]))
  if (secrets.length > 0) {
    const part: Part =
      requestId === undefined
        ? { data, mediaType: 'application/json', metadata: sensitive }
        : toolResultPart(requestId, data, true)
    return { parts: [part], secrets }
  }
  const words = Object.entries(data).map(([name, value]) => `${name}: ${valueText(value)}`)
  const parts: readonly Part[] = [{ text: words.join('\n') }, { data, mediaType: 'application/json' }]
  return { parts: requestId === undefined ? parts : [...parts, toolResultPart(requestId, data, false)], secrets: [] }
}

export function answerWithCredentials(scheme: string | undefined, credentials: string): QuestionAnswer {
  const data = scheme === undefined ? { credentials } : { scheme, credentials }
  const metadata = { [credentialsExtension]: { type: 'credentials' } }
  return { parts: [{ data, metadata }], secrets: [credentials] }
}

/** Results by the ids of the calls. */
export function answerWithResults(results: Readonly<Record<string, Json>>): QuestionAnswer {
  return { parts: Object.entries(results).map(([id, result]) => toolResultPart(id, result, false)), secrets: [] }
}

const sensitive: Struct = { [credentialsExtension]: { sensitive: true } }

function toolResultPart(toolUseId: string, result: Json, isSecret: boolean): Part {
  const mark = isSecret ? { type: 'tool-result', sensitive: true } : { type: 'tool-result' }
  return { data: { toolUseId, result }, metadata: { [clientToolsExtension]: mark } }
}

function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const redactedText = '(not shown)'

/** Removes every value that equals a secret, at any depth. */
export function redactSecrets(value: Json, secrets: readonly Json[]): Json {
  if (secrets.length === 0) return value
  if (Array.isArray(value)) return value.map((one: Json) => redactSecrets(one, secrets))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactSecrets(one, secrets)]))
  }
  const isSecret = secrets.some((secret) => secret === value || leafValues(secret).includes(value))
  return isSecret ? redactedText : value
}

function leafValues(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap(leafValues)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leafValues) : [value]
}
