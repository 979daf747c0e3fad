/** One question to an agent somewhere, and what came of it as plain data: nothing here ever throws (S0-11). */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/linked-signal.ts'
import { isInterrupted } from '../model/state.ts'
import { textOf, textSaid } from './answer.ts'
import { connect } from './connect.ts'
import type { Answer, ConnectOptions, Invocation, InvokeOptions, RemoteAgent } from './contract.ts'
import { sleep } from './sleep.ts'
import { facadeBinding } from './facade-binding.ts'
import { simpleTasksBinding } from './address.ts'

export function invoke(
  target: string | URL | AgentCard,
  text: string,
  options: InvokeOptions = {},
): Promise<Invocation> {
  return invokeWith((about) => connect(target, about), text, options)
}

/** `open` connects to the agent, with the options that it is given. */
export async function invokeWith(
  open: (options: ConnectOptions) => Promise<RemoteAgent>,
  text: string,
  options: InvokeOptions,
): Promise<Invocation> {
  const { skill, timeoutMs = 300_000, contextId, bindings = [], ...about } = options
  const { signal, end } = linkSignals([options.signal], timeoutMs)
  let taskId: string | undefined
  let isFound = false
  try {
    const agent = await open({
      prefer: bindings.map(({ protocolBinding }) => protocolBinding),
      ...about,
      // A peer that serves simple tasks is told how long it may take.
      bindings: [...bindings, facadeBinding(timeoutMs)],
      signal,
    })
    isFound = true
    return invocationOf(await ask(agent))
  } catch (reason) {
    return { success: false, taskId, responseText: '', error: why(reason) }
  } finally {
    end()
  }

  function why(reason: unknown): string {
    if (signal.aborted && options.signal?.aborted !== true) return `Timed out after ${timeoutMs}ms`
    const { message } = Object(reason) as { message?: unknown }
    const words = typeof message === 'string' ? message : String(reason)
    return isFound && taskId === undefined && !signal.aborted ? `Submit failed: ${withStatus(words, reason)}` : words
  }

  async function ask(agent: RemoteAgent): Promise<Answer> {
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
      if (taskId === undefined || !isPassing(agent, reason)) throw reason
      return pollOn(agent, taskId)
    }
  }

  /** A look that fails is no answer: the task goes on, and is looked at until time is up (S0-24). */
  async function pollOn(agent: RemoteAgent, id: string): Promise<Answer> {
    for (;;) {
      await sleep(agent.session.limits.pollMs, signal)
      try {
        return await agent.wait(id, { signal })
      } catch (reason) {
        if (signal.aborted || !isPassing(agent, reason)) throw reason
      }
    }
  }
}

/** Of a peer with simple tasks: it has no streams to come back to, and what fails may be one look. */
function isPassing(agent: RemoteAgent, reason: unknown): boolean {
  return agent.interface.protocolBinding === simpleTasksBinding && reason instanceof A2AError && reason.retryable
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

/** The message of an error, with the HTTP status in front if it has one and does not say it. */
export function withStatus(message: string, reason: unknown): string {
  const status = reason instanceof A2AError ? reason.details['status'] : undefined
  return status === undefined || message.includes(`HTTP ${status}`) ? message : `HTTP ${status}: ${message}`
}
