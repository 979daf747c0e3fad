/**
 * An agent in the directory that is called over the network. The size of its answers is limited, because it may be
 * untrusted.
 */
import { type AgentCard, type Message, type Part, type StreamEvent, type Task, A2AError } from '@parley/a2a'
import type { AgentResponse, CallOptions, EventStream, RemoteAgent } from '@parley/a2a/client'
import { hasSettled, taskIdOfEvent, omitUndefined } from '@parley/a2a/internal'
import type { AgentProfile, AgentRef, DirectoryAgent, AgentAnswer, AgentCallOptions } from './agent-directory.ts'

/** Limit of one answer, in characters. */
const maxAnswerCharacters = 50_000_000
/** How long to wait for the task id after the caller has disconnected: without the id the task cannot be canceled. */
const graceMs = 5_000

export function createRemoteAgent(agent: RemoteAgent, ref: AgentRef, profile: AgentProfile): DirectoryAgent {
  return {
    profile,
    ref,
    send: (message, call) => readUntilSettled(agent, call, (options) => agent.stream(message, options)),

    async start(message, call) {
      const { session } = agent
      const request = { message, configuration: { returnImmediately: true } }
      const sent = await session.call('SendMessage', request, { signal: call.signal, ...traceHeaders(call) })
      call.onEvent(sent)
      return sent
    },

    async follow(taskId, call) {
      const task = await agent.get(taskId, { signal: call.signal })
      if (hasSettled(task.status.state)) return task
      const answer = await readUntilSettled(agent, call, (options) => agent.subscribe(taskId, options))
      return 'task' in answer ? answer.task : task
    },

    get: (taskId, historyLength, signal) => agent.get(taskId, { historyLength, signal }),
    cancel: (taskId, signal) => agent.cancel(taskId, { signal }),
  }
}

/** Reads until the turn has ended. */
async function readUntilSettled(
  agent: RemoteAgent,
  call: AgentCallOptions,
  open: (options: CallOptions) => EventStream,
): Promise<AgentAnswer> {
  const { signal, onEvent } = call
  const leaving = new AbortController()
  const stream = open({ signal: leaving.signal, ...traceHeaders(call) })
  let taskId: string | undefined
  let grace: NodeJS.Timeout | undefined
  const leave = (): void => {
    if (taskId !== undefined) leaving.abort(signal.reason)
    else grace ??= setTimeout(() => leaving.abort(signal.reason), graceMs)
  }
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  let said = 0
  try {
    for await (const event of stream) {
      taskId = taskIdOfEvent(event) ?? taskId
      onEvent(event)
      signal.throwIfAborted()
      said += lengthOf(event)
      if (said > maxAnswerCharacters)
        throw new A2AError('INVALID_AGENT_RESPONSE', 'The response of the agent exceeds the size limit')
      // A stream may stay open while the agent waits for credentials; the waiting tool call ends then.
      if (taskId !== undefined && isWaiting(event)) return { task: await agent.get(taskId, { signal }) }
    }
    return answerOf(await stream.result())
  } finally {
    clearTimeout(grace)
    signal.removeEventListener('abort', leave)
    leaving.abort()
  }
}

function isWaiting(event: StreamEvent): boolean {
  return 'statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_AUTH_REQUIRED'
}

function answerOf({ kind, ...answer }: AgentResponse): AgentAnswer {
  return kind === 'message' ? { message: answer as Message } : { task: answer as Task }
}

function traceHeaders({ traceparent }: AgentCallOptions): Pick<CallOptions, 'headers'> {
  return traceparent === undefined ? {} : { headers: { traceparent } }
}

/** The length of everything that accumulates: texts, files and data. */
function lengthOf(event: StreamEvent): number {
  const parts = 'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []
  return parts.reduce((sum, part) => sum + lengthOfPart(part), 0)
}

function lengthOfPart(part: Part): number {
  // The client limits the size of an event, so the size of this JSON is limited too.
  if ('data' in part) return JSON.stringify(part.data).length
  return 'text' in part ? part.text.length : 'raw' in part ? part.raw.length : part.url.length
}

/** The profile of an agent from its card. */
export function profileOfCard(card: AgentCard, url: string, name?: string): AgentProfile {
  const { provider, documentationUrl } = card
  return {
    ...omitUndefined({ name }),
    title: card.name,
    description: card.description,
    version: card.version,
    url,
    skills: card.skills,
    inputModes: card.defaultInputModes,
    outputModes: card.defaultOutputModes,
    ...(provider !== undefined ? { provider: provider.organization } : {}),
    ...omitUndefined({ documentationUrl }),
    isAvailable: true,
  }
}
