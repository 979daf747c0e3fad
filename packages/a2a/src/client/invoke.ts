/** Sends one message to an agent and returns the outcome as plain data: never throws (S0-11). */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/signals.ts'
import { isInterrupted } from '../model/state.ts'
import { textOfParts, extractText } from './agent-response.ts'
import { connect } from './connect.ts'
import type { AgentResponse, ConnectOptions, InvocationResult, InvokeOptions, RemoteAgent } from './contract.ts'
import { sleep } from './sleep.ts'
import { createSimpleTasksBinding } from './load-binding.ts'
import { simpleTasksBindingUri } from './http/http-url.ts'

/**
 * Sends one text to an agent, waits for the outcome and returns it as plain data. Never throws: `success` and `error` tell how it
 * went (S0-11). `timeoutMs` limits the whole invocation; default 300,000.
 *
 * @example
 * ```ts
 * import { invoke } from '@parley/a2a/client'
 *
 * const { success, responseText, error } = await invoke('https://agent.example.com', 'Summarize the news')
 * console.log(success ? responseText : error)
 * ```
 */
export function invoke(
  target: string | URL | AgentCard,
  text: string,
  options: InvokeOptions = {},
): Promise<InvocationResult> {
  return invokeWith((about) => connect(target, about), text, options)
}

/** `open` connects to the agent with the options that it gets. */
export async function invokeWith(
  open: (options: ConnectOptions) => Promise<RemoteAgent>,
  text: string,
  options: InvokeOptions,
): Promise<InvocationResult> {
  const { skill, timeoutMs = 300_000, contextId, bindings = [], ...about } = options
  const { signal, end } = linkSignals([options.signal], timeoutMs)
  let taskId: string | undefined
  let isConnected = false
  try {
    const agent = await open({
      prefer: bindings.map(({ protocolBinding }) => protocolBinding),
      ...about,
      // A peer that serves simple tasks gets the time limit with the request.
      bindings: [...bindings, createSimpleTasksBinding(timeoutMs)],
      signal,
    })
    isConnected = true
    return toInvocationResult(await ask(agent))
  } catch (reason) {
    return { success: false, taskId, responseText: '', error: errorText(reason) }
  } finally {
    end()
  }

  function errorText(reason: unknown): string {
    if (signal.aborted && options.signal?.aborted !== true) return `Timed out after ${timeoutMs}ms`
    const { message } = Object(reason) as { message?: unknown }
    const words = typeof message === 'string' ? message : String(reason)
    return isConnected && taskId === undefined && !signal.aborted
      ? `Submit failed: ${messageWithStatus(words, reason)}`
      : words
  }

  async function ask(agent: RemoteAgent): Promise<AgentResponse> {
    const stream = agent.stream(text, {
      signal,
      ...(contextId !== undefined ? { contextId } : {}),
      ...(skill !== undefined ? { metadata: { skillId: skill } } : {}),
    })
    try {
      for await (const _ of stream) taskId ??= stream.taskId
      return await stream.result()
    } catch (reason) {
      taskId ??= stream.taskId
      if (taskId === undefined || !isTransient(agent, reason)) throw reason
      return pollUntilDone(agent, taskId)
    }
  }

  /** A failed poll is not a result: the task continues, and polling goes on until the timeout (S0-24). */
  async function pollUntilDone(agent: RemoteAgent, id: string): Promise<AgentResponse> {
    for (;;) {
      await sleep(agent.session.limits.pollMs, signal)
      try {
        return await agent.wait(id, { signal })
      } catch (reason) {
        if (signal.aborted || !isTransient(agent, reason)) throw reason
      }
    }
  }
}

/** For a peer with simple tasks: it has no streams to resume, and the failure may affect only one poll. */
function isTransient(agent: RemoteAgent, reason: unknown): boolean {
  return agent.interface.protocolBinding === simpleTasksBindingUri && reason instanceof A2AError && reason.retryable
}

function toInvocationResult(answer: AgentResponse): InvocationResult {
  const responseText = extractText(answer)
  if (answer.kind === 'message') return { success: true, taskId: answer.taskId, responseText, error: undefined }
  const { id: taskId, status } = answer
  if (status.state === 'TASK_STATE_COMPLETED') return { success: true, taskId, responseText, error: undefined }
  const said = textOfParts(status.message?.parts)
  const otherwise = isInterrupted(status.state) ? 'The agent asks for input' : 'Task failed'
  return { success: false, taskId, responseText, error: said || responseText || otherwise }
}

/** The message of an error, preceded by the HTTP status if it has one and does not contain it. */
export function messageWithStatus(message: string, reason: unknown): string {
  const status = reason instanceof A2AError ? reason.details['status'] : undefined
  return status === undefined || message.includes(`HTTP ${status}`) ? message : `HTTP ${status}: ${message}`
}
