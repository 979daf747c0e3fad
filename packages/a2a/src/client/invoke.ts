/** One question to an agent somewhere, and what came of it as plain data: nothing here ever throws (S0-11). */
import { A2AError } from '../model/error.ts'
import { isInterrupted } from '../model/state.ts'
import { textOf, textSaid } from './answer.ts'
import { authenticatorOf } from './auth/authenticator.ts'
import { connect } from './connect.ts'
import type { Answer, Invocation, InvokeOptions, RemoteAgent } from './contract.ts'
import { deadline } from './deadline.ts'
import { createHttp, platformFetch } from './http.ts'
import { defaultLimits } from './limits.ts'

export async function invoke(url: string | URL, text: string, options: InvokeOptions = {}): Promise<Invocation> {
  const { skill, timeoutMs = 300_000, contextId, ...about } = options
  const time = deadline(timeoutMs, options.signal)
  const { signal } = time
  let taskId: string | undefined
  let isFound = false
  try {
    const agent = await find()
    isFound = true
    return agent === undefined ? await overFacade() : await over(agent)
  } catch (reason) {
    return { success: false, taskId, responseText: '', error: why(reason) }
  } finally {
    time.clear()
  }

  function why(reason: unknown): string {
    if (signal.aborted && options.signal?.aborted !== true) return `Timed out after ${timeoutMs}ms`
    const { message } = Object(reason) as { message?: unknown }
    const words = typeof message === 'string' ? message : String(reason)
    return isFound && taskId === undefined && !signal.aborted ? `Submit failed: ${withStatus(reason, words)}` : words
  }

  /** `undefined`: its card has a name and a version and says no way to speak with it. */
  async function find(): Promise<RemoteAgent | undefined> {
    try {
      return await connect(url, { ...about, signal })
    } catch (reason) {
      // Without a card there is nothing that could be signed.
      if (about.verify === 'require') throw reason
      const violations = reason instanceof A2AError ? reason.details.violations : undefined
      if (violations?.length !== 1 || !/^(supportedInterfaces|url)$/.test(violations[0]?.field ?? '')) throw reason
      return undefined
    }
  }

  async function over(agent: RemoteAgent): Promise<Invocation> {
    const stream = agent.stream(text, {
      signal,
      ...(contextId !== undefined ? { contextId } : {}),
      ...(skill !== undefined ? { metadata: { skillId: skill } } : {}),
    })
    try {
      for await (const _ of stream) taskId ??= stream.taskId
    } catch (reason) {
      if (taskId !== undefined || agent.interface.version === '1.0' || !isElsewhere(reason)) throw reason
      return overFacade()
    }
    return invocationOf(await stream.result())
  }

  async function overFacade(): Promise<Invocation> {
    const { invokeFacade } = await import('./facade.ts')
    const { fetch = platformFetch, headers } = about
    const limits = { ...defaultLimits, ...about.limits }
    const http = createHttp({ fetch, authenticate: authenticatorOf(about, { fetch, limits }), limits, headers })
    const named = (id: string): void => void (taskId = id)
    return invokeFacade({ url: String(url), text, skill, timeoutMs, http, limits, signal, named })
  }
}

function invocationOf(answer: Answer): Invocation {
  const responseText = textSaid(answer)
  if (answer.kind === 'message') return { success: true, taskId: answer.taskId, responseText, error: undefined }
  const { id: taskId, status } = answer
  if (status.state === 'TASK_STATE_COMPLETED') return { success: true, taskId, responseText, error: undefined }
  const said = textOf(status.message?.parts)
  const otherwise = isInterrupted(status.state) ? 'The agent asks for input' : 'Task failed'
  return { success: false, taskId, responseText, error: said || responseText || otherwise }
}

/** Nobody knows A2A at the address on the card: so it is with peers from before 0.2, whose cards have a url all the same. */
function isElsewhere(reason: unknown): boolean {
  return /^(404|405|501)$/.test(statusOf(reason))
}

function withStatus(reason: unknown, words: string): string {
  const status = statusOf(reason)
  return status === '' || words.includes(`HTTP ${status}`) ? words : `HTTP ${status}: ${words}`
}

function statusOf(reason: unknown): string {
  const status = reason instanceof A2AError ? reason.details['status'] : ''
  return typeof status === 'string' ? status : ''
}
