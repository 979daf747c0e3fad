/**
 * Peers from before the protocol had interfaces: a task is posted to `/a2a/tasks/send` and looked at under
 * `/a2a/tasks/{id}` until it is `completed` or `failed` (S0-4, S0-5). Loaded when a card shows such a peer.
 */
import { A2AError } from '../model/error.ts'
import type { ClientLimits, Http, Invocation } from './contract.ts'
import { sleep } from './deadline.ts'
import { discard, readText } from './read-text.ts'

export interface FacadeCall {
  readonly url: string
  readonly text: string
  readonly skill: string | undefined
  readonly timeoutMs: number
  readonly http: Http
  readonly limits: ClientLimits
  readonly signal: AbortSignal
  /** As soon as the peer has named it. */
  named(taskId: string): void
}

/** A task as it is there: flat, with its messages. */
interface FlatTask {
  readonly id?: unknown
  readonly state?: unknown
  readonly status?: { readonly state?: unknown }
  readonly messages?: unknown
}

export async function invokeFacade(call: FacadeCall): Promise<Invocation> {
  const { text: message, skill, timeoutMs, signal, limits } = call
  const base = call.url.replace(/[?#].*/, '').replace(/(\/\.well-known\/[^/]*)?\/*$/, '')
  const params = { message, ...(skill !== undefined ? { skill } : {}), timeoutMs }
  // Some read the parameters in an envelope and some bare (S0-4); each finds them where it looks.
  let task = await ask('POST', '/a2a/tasks/send', JSON.stringify({ ...params, params }))
  const { id } = task
  if (typeof id !== 'string' || id === '') {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer took the task and gave it no id', {
      violations: [{ field: 'id', description: 'is required' }],
    })
  }
  call.named(id)
  for (;;) {
    const state = task.state ?? task.status?.state
    if (state === 'completed' || state === 'failed') return outcome(id, state === 'completed', textIn(task.messages))
    await sleep(limits.pollMs, signal)
    task = await poll(`/a2a/tasks/${encodeURIComponent(id)}`)
  }

  /** A look that fails is no answer: the task goes on, and so do we until time is up (S0-24). */
  async function poll(path: string): Promise<FlatTask> {
    try {
      return await ask('GET', path)
    } catch (reason) {
      signal.throwIfAborted()
      // Nobody will know the task later who does not know it now.
      if (reason instanceof A2AError && /^4(01|03|04|10)$/.test(reason.details['status'] as string)) throw reason
      return {}
    }
  }

  async function ask(method: string, path: string, body?: string): Promise<FlatTask> {
    const response = await call.http.send({
      method,
      url: base + path,
      headers: { accept: 'application/json', ...(body !== undefined ? { 'content-type': 'application/json' } : {}) },
      ...(body !== undefined ? { body } : {}),
      signal,
    })
    const { status } = response
    if (!response.ok) {
      discard(response)
      throw new A2AError('UNAVAILABLE', `HTTP ${status}`, { status: String(status) })
    }
    const answer = await readText(response, limits.maxBodyBytes, signal, limits.timeoutMs)
    try {
      return (JSON.parse(answer) as FlatTask | null) ?? {}
    } catch {
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer answers with something that is no JSON')
    }
  }
}

function outcome(taskId: string, success: boolean, responseText: string): Invocation {
  return { success, taskId, responseText, error: success ? undefined : responseText || 'Task failed' }
}

/** What the agent said last (S0-25). */
function textIn(messages: unknown): string {
  if (!Array.isArray(messages)) return ''
  const last = (messages as { role?: unknown; parts?: { text?: unknown }[] }[]).findLast(({ role }) => role === 'agent')
  return (last?.parts ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}
