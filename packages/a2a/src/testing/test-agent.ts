/**
 * An agent under test, without a socket: each call goes the whole way through binding,
 * version, engine, log and back, in whichever version and binding the test asks for.
 */
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import { answerOf, textOfAnswer } from '../client/answer.ts'
import type { EventStream, Saying } from '../client/contract.ts'
import { createEventStream } from '../client/event-stream.ts'
import type { Caller } from '../model/caller.ts'
import { newId } from '../model/id.ts'
import type { ListTasksRequest, SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import type { Message, Part, Task } from '../model/task.ts'
import type { AgentSettings, HandlerOptions } from '../server/options.ts'
import { createHandler } from '../server/handler.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'
import { versionOf } from '../versions/index.ts'
import type { VersionId } from '../versions/version.ts'
import { grpcLine, grpcTestWire } from './grpc-line.ts'
import { testWire } from './test-wire.ts'
import type { TestCallOptions as CallOptions, TestWire } from './test-wire.ts'

export type TestBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

export interface TestAgentOptions extends Omit<Partial<AgentSettings>, 'agent'> {
  /** Default: a memory store of its own. */
  readonly store?: Store
  readonly version?: VersionId
  /** `GRPC` opens a port of this machine, because it has no way without one. */
  readonly binding?: TestBinding
  /** Everything else that a handler takes. */
  readonly server?: Partial<Omit<HandlerOptions, 'store' | 'agents' | 'agent'>>
  /** Calls as this caller. Default: anonymous. */
  readonly caller?: Caller
}

export type { Saying }

export interface SendOptions extends SendMessageConfiguration {
  readonly taskId?: string
  readonly contextId?: string
  readonly metadata?: SendMessageRequest['metadata']
}

/** What a client holds, but over one connection and as it comes: what the server does is what is under test. */
export type TestStream = EventStream

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
  as(version: VersionId, binding?: TestBinding): TestAgent
  /** For what the above cannot say. */
  readonly wire: TestWire
  fetch(request: Request): Promise<Response>
  /** Where it speaks gRPC: `127.0.0.1` and a port that is opened when somebody first asks. */
  grpcAddress(): Promise<string>
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
  const line = grpcLine(handler)
  return seen(version, binding)

  /** A socket would let others have a turn between a request and its answer; so do we, or a polling test starves its agent. */
  async function call(request: Request): Promise<Response> {
    const response = await handler.fetch(request)
    await nextTurnOfTheLoop()
    return response
  }

  function seen(as: VersionId, over: TestBinding): TestAgent {
    const wire =
      over === 'GRPC'
        ? grpcTestWire(versionOf(as), line)
        : testWire({ url: origin, version: versionOf(as), binding: over, fetch: call })
    return {
      wire,
      async ask(saying, about) {
        return textOfAnswer(answerOf(await wire.call('SendMessage', requestOf(saying, about ?? {}))))
      },
      send,
      stream: (saying, about = {}) =>
        createEventStream(
          (signal) => wire.stream('SendStreamingMessage', requestOf(saying, about), callOptions(about, signal)),
          about.signal,
        ),
      subscribe: (id, about = {}) =>
        createEventStream(
          (signal) => wire.stream('SubscribeToTask', { id }, callOptions(about, signal)),
          about.signal,
          about.lastEventId === undefined ? undefined : (taskId) => wire.call('GetTask', { id: taskId }),
        ),
      get: (id, historyLength) =>
        wire.call('GetTask', { id, ...(historyLength !== undefined ? { historyLength } : {}) }),
      list: async (request = {}) => (await wire.call('ListTasks', request)).tasks,
      cancel: (id) => wire.call('CancelTask', { id }),
      as: (otherVersion, otherBinding = over) => seen(otherVersion, otherBinding),
      fetch: call,
      grpcAddress: async () => (await line()).address,
      async close() {
        await line.close()
        await handler.close()
      },
    }

    async function send(saying: Saying, about: SendOptions = {}): Promise<Task | Message> {
      const result = await wire.call('SendMessage', requestOf(saying, about))
      return 'task' in result ? result.task : result.message
    }
  }
}

function callOptions({ lastEventId, headers }: CallOptions, signal: AbortSignal): CallOptions {
  return {
    signal,
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
