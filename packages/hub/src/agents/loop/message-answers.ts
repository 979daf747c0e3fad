/** What a task waits for, and what the message of a turn answers: tool calls for the client, and a question of a child. */
import {
  clientToolsExtension as uri,
  type Message,
  type Part,
  type Struct,
  type AgentMessage,
  type Json,
  type Report,
  isRedacted,
} from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import { truncateText } from './result-text.ts'
import type { LoopState, OpenCall } from './state.ts'
import type { Toolbox } from './toolbox.ts'
import { parseBoundedJson } from '../../json/embedded-json.ts'

export interface MessageAnswers {
  /** Calls that the client has run. */
  readonly answered: readonly OpenCall[]
  /** Results that the client marked as secrets: the model gets them, the log does not. */
  readonly secrets: ReadonlyMap<string, string>
}

export const noAnswers: MessageAnswers = { answered: [], secrets: new Map() }

const secretPlaceholder = '[a secret, not stored]'

/** Updates the state: answered calls no longer wait. */
export function applyAnswers(message: Message, state: LoopState, limit: number): MessageAnswers {
  const waiting = state.open.filter(({ state: at, result }) => at === 'waits' && result === undefined)
  const isTimeout = message.metadata?.['reason'] === 'INPUT_TIMEOUT'
  const said = isTimeout ? [] : partsBesideResults(message, state)
  const answered: OpenCall[] = []
  const secrets = new Map<string, string>()

  for (const call of waiting) {
    if (call.child === undefined) answerForClient(call)
    else if (isTimeout) call.result = 'The question of that agent was not answered in time.'
  }
  const asking = waiting.find(({ child, result }) => child !== undefined && result === undefined)
  if (asking === undefined) {
    if (said.length > 0) state.then.push({ role: 'user', content: chatTextOf(said), from: message.messageId })
  } else if (said.length > 0) {
    asking.state = 'planned'
    asking.answeredBy = message.messageId
  }
  return { answered, secrets }

  function answerForClient(call: OpenCall): void {
    const part = message.parts.find((given) => toolResultId(given) === call.id)
    if (part === undefined) {
      call.result = isTimeout ? 'The client did not answer in time.' : 'The client has not run this tool.'
      return
    }
    const text = truncateText(toolResultText(part), limit)
    call.result = isSecret(part) ? secretPlaceholder : text
    if (isSecret(part) && !isRedacted(part)) secrets.set(call.id, text)
    answered.push(call)
  }
}

/**
 * The answer for the child of a call. It is in memory only, because it may be a secret; if a restart loses it, the caller
 * is asked again.
 */
export function answerForChild(call: OpenCall, message: Message, state: LoopState): readonly Part[] | undefined {
  if (call.answeredBy === undefined || call.answeredBy !== message.messageId) return undefined
  const said = partsBesideResults(message, state)
  return said.length === 0 || isRedacted({ parts: said }) ? undefined : said
}

/** The id of the call whose result the part is, if it is one. */
export function toolResultId(part: Part): string | undefined {
  if (!('data' in part) || !isStruct(part.data) || clientToolsMetadata(part)['type'] !== 'tool-result') return undefined
  const id = part.data['toolUseId']
  return typeof id === 'string' ? id : undefined
}

/** All parts except the results of our own calls. */
function partsBesideResults({ parts }: Message, { open }: LoopState): readonly Part[] {
  const ours = new Set(open.filter(({ child }) => child === undefined).map(({ id }) => id))
  return parts.filter((part) => !ours.has(toolResultId(part) ?? '') && !('text' in part && part.text === ''))
}

export function chatTextOf(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '[a file]')).join('\n')
}

function toolResultText(part: Part): string {
  const data = 'data' in part && isStruct(part.data) ? part.data : {}
  if (data['redacted'] === true) return 'This was a secret and is no longer available.'
  const { error, result } = data
  if (error !== undefined) return `The tool failed: ${typeof error === 'string' ? error : JSON.stringify(error)}`
  return typeof result === 'string' ? result : JSON.stringify(result ?? null)
}

function isSecret(part: Part): boolean {
  return clientToolsMetadata(part)['sensitive'] === true || isRedacted(part)
}

function clientToolsMetadata(part: Part): Struct {
  const given = part.metadata?.[uri]
  return isStruct(given) ? given : {}
}

/** What the task waits for, as a status: calls for the client to run, and at most one question of a child. */
export function inputRequiredReport({ open }: LoopState, toolbox: Toolbox, metadata: Struct): Report {
  const waiting = open.filter(({ state, result }) => state === 'waits' && result === undefined)
  const calls = waiting.filter(({ child }) => child === undefined)
  const waitingChild = waiting.find(({ child }) => child !== undefined)
  const state = waitingChild?.question?.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
  return { state, message: messageFor(calls, waitingChild, toolbox), metadata }
}

function messageFor(calls: readonly OpenCall[], waitingChild: OpenCall | undefined, toolbox: Toolbox): AgentMessage {
  const question = waitingChild?.question?.message
  const extensions = new Set([...(question?.extensions ?? []), ...(calls.length > 0 ? [uri] : [])])
  return {
    parts: [...(question?.parts ?? []), ...callParts(calls, toolbox)],
    ...(question?.metadata !== undefined ? { metadata: question.metadata } : {}),
    ...(extensions.size > 0 ? { extensions: [...extensions] } : {}),
    ...(waitingChild?.child?.taskId !== undefined ? { referenceTaskIds: [waitingChild.child.taskId] } : {}),
  }
}

/** Adds a sentence for people. */
function callParts(calls: readonly OpenCall[], toolbox: Toolbox): readonly Part[] {
  if (calls.length === 0) return []
  const names = calls.map(({ name }) => toolbox.find(name)?.title ?? name)
  return [
    { text: `The client must run: ${names.join(', ')}` },
    ...calls.map(({ id, name, input }) => ({
      data: { toolUseId: id, name: toolbox.find(name)?.name ?? name, input: parsed(input) },
      metadata: { [uri]: { type: 'tool-use' } },
    })),
  ]
}

function parsed(input: string): Json {
  try {
    return parseBoundedJson(input === '' ? '{}' : input) as Json
  } catch {
    return {}
  }
}
