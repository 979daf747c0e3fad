/**
 * An agent behind A2A as a tool of a framework. The id of its message derives from the id of the tool call, so a run that is repeated
 * does not send it twice: the remote agent returns the task that it already has.
 */
import type { AgentMessage, OpenSpan, Turn } from '../agents/agent.ts'
import { connect } from '../client/connect.ts'
import type { ConnectOptions, RemoteAgent } from '../client/contract.ts'
import { isInterrupted } from '../model/state.ts'
import { isStruct, omitUndefined } from '../model/struct.ts'
import { newId } from '../model/id.ts'
import type { Json, Message, Part, StreamEvent, Struct, Task } from '../model/task.ts'
import { boundedJson } from './bounded-json.ts'
import { partText } from './conversation-messages.ts'
import { currentTurn } from './current-turn.ts'

/** Options of `a2aTool`. */
export interface A2aToolOptions extends ConnectOptions {
  /** The name of the tool. Default: from the agent card. */
  readonly name?: string
  /** What the model reads of the tool. Default: from the agent card. */
  readonly description?: string
}

/** A question of the remote agent, for a framework that cannot ask: the model gets it, with the task to continue. */
export interface RemoteQuestion {
  readonly question: string
  readonly taskId: string
  readonly contextId?: string
}

/** How a framework asks the user. Returns the answer: a text, data, or a message. */
export type AskUser = (question: AgentMessage, about: RemoteQuestion) => Promise<Json | Message>

/** One call of a remote agent. */
export interface RemoteToolCall {
  readonly message: string
  /** The id of the tool call. Default: each call is a new message. */
  readonly toolCallId?: string | undefined
  /** Within which `toolCallId` is unique, outside of a turn. */
  readonly scope?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Default: the caller of the turn is asked; without a turn, the question is the result. */
  readonly ask?: AskUser
}

/** A remote agent as a tool: what each framework needs of it. */
export interface RemoteAgentTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Struct
  /** Yields progress as text, each time what is new, bounded; returns the answer as text, or a question that could not be asked. */
  call(call: RemoteToolCall): AsyncGenerator<string, string | RemoteQuestion, void>
}

const inputSchema: Struct = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What the agent shall do, with everything that it needs to know' },
  },
  required: ['message'],
  additionalProperties: false,
}

/** Text that arrives is progress once it has grown by this much: a status for each chunk would fill the log of the task. */
const progressCharacters = 400
/** Of one report of progress. */
const maxProgressCharacters = 2_000
/** Of all progress of one message. The result of the call has the whole text. */
const maxTotalProgress = 100_000

/** Reads the card of a remote agent, for `a2aTool` of a framework. */
export async function openRemoteAgentTool(url: string, options: A2aToolOptions): Promise<RemoteAgentTool> {
  const { name, description, ...connectOptions } = options
  const { card } = await connect(url, connectOptions)
  const skills = card.skills.map((skill) => `${skill.name}: ${skill.description}`)
  return {
    name: name ?? toolName(card.name),
    description: description ?? [card.description, ...skills].filter((text) => text !== '').join('\n'),
    inputSchema,
    call: (call) => callRemote(url, card.name, connectOptions, call),
  }
}

async function* callRemote(
  url: string,
  agentName: string,
  options: ConnectOptions,
  call: RemoteToolCall,
): AsyncGenerator<string, string | RemoteQuestion, void> {
  const turn = currentTurn()
  const span = turn?.span(`call ${agentName}`, { kind: 'hop', attributes: { 'server.address': new URL(url).hostname } })
  try {
    const trace = traceOf(turn, span)
    const agent = await connect(url, { ...options, ...(trace !== undefined ? { trace: () => trace } : {}) })
    const result = yield* converse(agent, turn, call)
    span?.end('ok')
    return result
  } catch (reason) {
    span?.end(turn?.signal.aborted === true ? 'canceled' : 'error')
    throw reason
  }
}

async function* converse(
  agent: RemoteAgent,
  turn: Turn | undefined,
  { message, toolCallId, scope, signal = turn?.signal, ask = askOf(turn) }: RemoteToolCall,
): AsyncGenerator<string, string | RemoteQuestion, void> {
  const within = turn?.task.id ?? scope
  const isRepeatable = within !== undefined && toolCallId !== undefined
  const messageIdOf = (round: number): Promise<string> | string =>
    isRepeatable ? derivedId(within, toolCallId, String(round)) : newId()
  // All calls of one conversation are one conversation of the remote agent.
  let contextId = turn === undefined ? undefined : await derivedId(turn.sessionKey, agent.card.name)
  let parts: readonly Part[] = [{ text: message }]
  let taskId: string | undefined
  for (let round = 0; ; round += 1) {
    const options = { messageId: await messageIdOf(round), ...omitUndefined({ taskId, contextId, signal }) }
    const answer = yield* readStream(agent.stream(parts, options))
    if ('text' in answer) return answer.text
    const task = await agent.get(answer.taskId, omitUndefined({ signal }))
    if (!isInterrupted(task.status.state)) return resultOf(task)
    const question = task.status.message ?? { parts: [{ text: 'The agent asks for more' }] }
    taskId = task.id
    contextId = task.contextId ?? contextId
    const about = { question: textOf(question.parts), taskId, ...omitUndefined({ contextId }) }
    if (ask === undefined) return about
    parts = answerParts(await ask({ parts: question.parts, referenceTaskIds: [taskId] }, about))
  }
}

/** Yields progress. Ends with the text of a direct message, or with the id of the task. */
async function* readStream(
  events: AsyncIterable<StreamEvent> & { readonly taskId: string | undefined },
): AsyncGenerator<string, { readonly text: string } | { readonly taskId: string }, void> {
  /** Text of the answer that was not reported yet. */
  let added = ''
  let total = 0
  for await (const event of events) {
    if ('message' in event) return { text: textOf(event.message.parts) }
    if (total >= maxTotalProgress) continue
    let said = ''
    if ('statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_WORKING')
      said = textOf(event.statusUpdate.status.message?.parts ?? [])
    if ('artifactUpdate' in event) {
      const { artifact, append } = event.artifactUpdate
      added = append === true ? added + textOf(artifact.parts) : textOf(artifact.parts)
      if (added.length < progressCharacters) continue
      said = added
      added = ''
    }
    if (said === '') continue
    const progress = boundedJson(said, maxProgressCharacters)
    total += progress.length
    yield progress
  }
  if (events.taskId === undefined) throw new Error('the remote agent sent neither a task nor a message')
  return { taskId: events.taskId }
}

/** The message of a failed task is for its caller: here the model, which may try another way. */
function resultOf({ status, artifacts = [] }: Task): string {
  const said = textOf(status.message?.parts ?? [])
  if (status.state !== 'TASK_STATE_COMPLETED') throw new Error(said === '' ? `The task ended as ${status.state}` : said)
  return artifacts.length === 0 ? said : artifacts.map(({ parts }) => textOf(parts)).join('\n\n')
}

function askOf(turn: Turn | undefined): AskUser | undefined {
  return turn === undefined ? undefined : (question) => turn.askMessage(question)
}

function answerParts(answer: Json | Message): readonly Part[] {
  if (isStruct(answer) && 'messageId' in answer && 'parts' in answer) return (answer as unknown as Message).parts
  return typeof answer === 'string' ? [{ text: answer }] : [{ data: answer as Json }]
}

function traceOf(turn: Turn | undefined, span: OpenSpan | undefined) {
  if (turn === undefined) return undefined
  return { traceparent: span?.traceparent ?? turn.traceparent, ...omitUndefined({ tracestate: turn.tracestate }) }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(partText).join('\n')
}

function toolName(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
  return words.replaceAll(/^_+|_+$/g, '').slice(0, 64) || 'agent'
}

/** The same for the same inputs, in the form of a UUID. */
async function derivedId(...of: readonly string[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(of)))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
