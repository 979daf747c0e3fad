/**
 * An agent under test, without a socket: each call goes the whole way through binding,
 * version, engine, log and back, in whichever version and binding the test asks for.
 */
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import type { WireEvent } from '../client/contract.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { ListTasksRequest, SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Message, Part, StreamEvent, Task } from '../model/task.ts'
import type { AgentSettings, HandlerOptions } from '../server/options.ts'
import { createHandler } from '../server/handler.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'
import { versionOf } from '../versions/index.ts'
import type { VersionId } from '../versions/version.ts'
import { testWire } from './test-wire.ts'
import type { TestCallOptions as CallOptions, TestWire } from './test-wire.ts'

export interface TestAgentOptions extends Omit<Partial<AgentSettings>, 'agent'> {
  /** Default: a memory store of its own. */
  readonly store?: Store
  readonly version?: VersionId
  readonly binding?: 'JSONRPC' | 'HTTP+JSON'
  /** Everything else that a handler takes. */
  readonly server?: Partial<Omit<HandlerOptions, 'store' | 'agents' | 'agent'>>
  /** Calls as this caller. Default: anonymous. */
  readonly caller?: Caller
}

/** What a test may say: a text, parts, or a message with whatever it needs. */
export type Saying = string | readonly Part[] | (Partial<Message> & { readonly parts: readonly Part[] })

export interface SendOptions extends SendMessageConfiguration {
  readonly taskId?: string
  readonly contextId?: string
  readonly metadata?: SendMessageRequest['metadata']
}

/** The events of a stream. It is read once: iterate it, or ask for what you want of it. */
export interface TestStream extends AsyncIterable<StreamEvent> {
  /** The text of all artifacts, as it came. */
  text(): Promise<string>
  /** Every state in order, the first Task's included. */
  states(): Promise<TaskState[]>
  /** The artifacts as they add up. */
  artifacts(): Promise<Artifact[]>
  all(): Promise<StreamEvent[]>
  /** With the cursors and 0.x's `final`. */
  frames(): AsyncGenerator<WireEvent, void, undefined>
}

export interface TestAgent {
  /** The text of the answer; throws TASK_FAILED or INPUT_REQUIRED where there is none. */
  ask(saying: Saying, options?: SendOptions): Promise<string>
  send(saying: Saying, options?: SendOptions): Promise<Task | Message>
  stream(saying: Saying, options?: SendOptions & CallOptions): TestStream
  subscribe(taskId: string, options?: CallOptions): TestStream
  get(taskId: string, historyLength?: number): Promise<Task>
  list(request?: ListTasksRequest): Promise<readonly Task[]>
  cancel(taskId: string): Promise<Task>
  /** The same agent, seen by a client of another version or over another binding. */
  as(version: VersionId, binding?: 'JSONRPC' | 'HTTP+JSON'): TestAgent
  /** For what the above cannot say. */
  readonly wire: TestWire
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

const origin = 'http://agent.test'

export function testAgent(agent: Agent, options: TestAgentOptions = {}): TestAgent {
  const { store = memoryStore(), version = '1.0', binding = 'JSONRPC', server = {}, caller, ...settings } = options
  const handler = createHandler({
    ...server,
    ...settings,
    agent,
    store,
    anonymousMayList: true,
    ...(caller !== undefined ? { authenticate: () => caller } : {}),
  })
  return seen(version, binding)

  /** A socket would let others have a turn between a request and its answer; so do we, or a polling test starves its agent. */
  async function call(request: Request): Promise<Response> {
    const response = await handler.fetch(request)
    await nextTurnOfTheLoop()
    return response
  }

  function seen(as: VersionId, over: 'JSONRPC' | 'HTTP+JSON'): TestAgent {
    const wire = testWire({ url: origin, version: versionOf(as), binding: over, fetch: call })
    return {
      wire,
      async ask(saying, about) {
        return textOfAnswer(await send(saying, about))
      },
      send,
      stream: (saying, about = {}) =>
        createStream(() => wire.stream('SendStreamingMessage', requestOf(saying, about), callOptions(about))),
      subscribe: (id, about = {}) => createStream(() => wire.stream('SubscribeToTask', { id }, about)),
      get: (id, historyLength) =>
        wire.call('GetTask', { id, ...(historyLength !== undefined ? { historyLength } : {}) }),
      list: async (request = {}) => (await wire.call('ListTasks', request)).tasks,
      cancel: (id) => wire.call('CancelTask', { id }),
      as: (otherVersion, otherBinding = over) => seen(otherVersion, otherBinding),
      fetch: call,
      close: () => handler.close(),
    }

    async function send(saying: Saying, about: SendOptions = {}): Promise<Task | Message> {
      const result = await wire.call('SendMessage', requestOf(saying, about))
      return 'task' in result ? result.task : result.message
    }
  }
}

function callOptions({ signal, lastEventId, headers }: CallOptions): CallOptions {
  return {
    ...(signal !== undefined ? { signal } : {}),
    ...(lastEventId !== undefined ? { lastEventId } : {}),
    ...(headers !== undefined ? { headers } : {}),
  }
}

function requestOf(saying: Saying, options: SendOptions & CallOptions): SendMessageRequest {
  const { taskId, contextId, metadata, signal: _, lastEventId: __, headers: ___, ...configuration } = options
  const given =
    typeof saying === 'string' ? { parts: [{ text: saying }] } : isParts(saying) ? { parts: saying } : saying
  return {
    message: {
      messageId: newId(),
      role: 'ROLE_USER',
      ...(taskId !== undefined ? { taskId } : {}),
      ...(contextId !== undefined ? { contextId } : {}),
      ...given,
    },
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
  }
}

function isParts(saying: Saying): saying is readonly Part[] {
  return Array.isArray(saying)
}

/** The artifacts' text, else that of the last thing the agent said. */
function textOfAnswer(answer: Task | Message): string {
  if ('parts' in answer) return textOf(answer.parts)
  const { state, message } = answer.status
  const said = message === undefined ? '' : textOf(message.parts)
  if (state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED') {
    throw new A2AError('INPUT_REQUIRED', said === '' ? 'The agent asks for input' : said, { taskId: answer.id, state })
  }
  if (state !== 'TASK_STATE_COMPLETED') {
    throw new A2AError('TASK_FAILED', said === '' ? `The task ended as ${state}` : said, { taskId: answer.id, state })
  }
  const text = (answer.artifacts ?? []).map(({ parts }) => textOf(parts)).join('')
  return text === '' ? said : text
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

function createStream(open: () => AsyncGenerator<WireEvent, void, undefined>): TestStream {
  async function* events(): AsyncGenerator<StreamEvent, void, undefined> {
    for await (const { event } of open()) yield event
  }
  async function all(): Promise<StreamEvent[]> {
    return Array.fromAsync(events())
  }
  return {
    [Symbol.asyncIterator]: events,
    all,
    frames: open,
    async text() {
      return (await all())
        .map((event) => ('artifactUpdate' in event ? textOf(event.artifactUpdate.artifact.parts) : ''))
        .join('')
    },
    async states() {
      return (await all()).flatMap((event) =>
        'task' in event ? [event.task.status.state] : 'statusUpdate' in event ? [event.statusUpdate.status.state] : [],
      )
    },
    async artifacts() {
      const byId = new Map<string, Artifact>()
      for (const event of await all()) {
        if (!('artifactUpdate' in event)) continue
        const { artifact, append } = event.artifactUpdate
        const known = append === true ? byId.get(artifact.artifactId) : undefined
        byId.set(
          artifact.artifactId,
          known === undefined ? artifact : { ...known, parts: [...known.parts, ...artifact.parts] },
        )
      }
      return [...byId.values()]
    },
  }
}
