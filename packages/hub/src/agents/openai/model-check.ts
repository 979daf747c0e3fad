/**
 * Whether the endpoint has the model, without calling it: by its list of models, and by the last call. An endpoint without a list is
 * up while it responds.
 */
import { A2AError } from '@parley/a2a'
import { nearestName } from '@parley/a2a/command-line'
import type { ChatModel } from '../chat-model.ts'
import type { ModelEndpoint } from './endpoint.ts'

/** How long a call that found no model counts: then the next call decides. */
const missingMs = 300_000
const listedNames = 10

export function withModelCheck(
  model: ChatModel,
  name: string,
  endpoint: ModelEndpoint,
  monotonicNow: () => number,
): ChatModel & Required<Pick<ChatModel, 'health'>> {
  /** An answer proves more than a list, which may lack aliases and deployments. */
  let hasAnswered = false
  let missing: { readonly reason: unknown; readonly at: number } | undefined

  return {
    ...model,
    async *ask(request) {
      const isDefault = request.model === undefined || request.model === name
      try {
        for await (const event of model.ask(request)) {
          if (isDefault && 'answer' in event) {
            hasAnswered = true
            missing = undefined
          }
          yield event
        }
      } catch (reason) {
        if (isDefault && statusOf(reason) === '404') {
          hasAnswered = false
          missing = { reason, at: monotonicNow() }
        }
        throw reason
      }
    },
    async health(signal) {
      const names = await modelNames(endpoint, signal).catch((reason: unknown) => {
        if (/^(404|405|501)$/.test(statusOf(reason) ?? '')) return []
        throw reason
      })
      if (missing !== undefined && monotonicNow() - missing.at < missingMs) throw missing.reason
      if (hasAnswered || names.length === 0 || names.some((listed) => isSameModel(listed, name))) return
      await endpoint.get(`/models/${encodeURIComponent(name)}`, signal).catch((reason: unknown) => {
        if (statusOf(reason) !== '404') throw reason
        // Without such a page the path is unknown, not the model: servers of one model, such as llama.cpp, accept every name.
        if (/model/i.test(causeText(reason))) throw new Error(missingText(name, names))
      })
    },
  }
}

export async function modelNames(endpoint: ModelEndpoint, signal: AbortSignal): Promise<readonly string[]> {
  const list = await endpoint.get('/models', signal)
  const given: unknown = Array.isArray(list) ? list : (list as { data?: unknown } | null)?.data
  if (!Array.isArray(given)) return []
  return (given as unknown[])
    .map((item) => (item as { id?: unknown } | null)?.id)
    .filter((id): id is string => typeof id === 'string' && id !== '')
}

function statusOf(reason: unknown): string | undefined {
  return reason instanceof A2AError ? reason.details.status : undefined
}

function causeText(reason: unknown): string {
  return reason instanceof Error && reason.cause instanceof Error ? reason.cause.message : ''
}

/** Some endpoints list `models/x` or `x:latest` and accept `x`, or list `x` and accept its variants `x:free`. */
function isSameModel(listed: string, name: string): boolean {
  return listed === name || listed.endsWith(`/${name}`) || listed === `${name}:latest` || name.startsWith(`${listed}:`)
}

function missingText(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names)
  const others = names.length > listedNames ? ` and ${names.length - listedNames} others` : ''
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `the endpoint has no model ${name}.${hint} It has ${names.slice(0, listedNames).join(', ')}${others}`
}
