/**
 * An agent under test, without a socket: each call goes the whole way through binding, version, engine, log and back, in the
 * version and binding that the test selects.
 */
import { newestVersion } from '../versions/version-loaders.ts'
import { omitUndefined } from '../model/struct.ts'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import type { BindingName } from '../bindings/protocol-bindings.ts'
import { toAgentResponse, requireCompletedText } from '../client/agent-response.ts'
import { connect } from '../client/connect.ts'
import type {
  AgentResponse,
  Conversation,
  ConversationOptions,
  EventStream,
  MessageInput,
  RemoteAgent,
} from '../client/contract.ts'
import { createConversation } from '../client/conversation/conversation.ts'
import { createEventStream } from '../client/stream/event-stream.ts'
import type { Caller } from '../model/caller.ts'
import { newId } from '../model/id.ts'
import type { ListTasksRequest, SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import type { Part, Task } from '../model/task.ts'
import type { AgentSettings, HandlerOptions } from '../server/options.ts'
import { createHandler } from '../server/handler.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { versionOf } from '../versions/index.ts'
import type { VersionId } from '../versions/index.ts'
import { createLazyGrpcServer, grpcTestWire } from './lazy-grpc-server.ts'
import { testWire, type TestCallOptions as CallOptions, type TestWire } from './test-wire.ts'

/** The binding over which a test calls its agent. */
export type TestBinding = BindingName

/** Options of `testAgent`: the settings of the agent, and how the test calls it. */
export interface TestAgentOptions extends Omit<Partial<AgentSettings>, 'agent'> {
  /** Default: a memory store of its own. */
  readonly store?: HandlerOptions['store']
  /** The protocol version of the calls. Default `1.0`. */
  readonly version?: VersionId
  /** Default `JSONRPC`. `GRPC` opens a local port, because gRPC needs one. */
  readonly binding?: TestBinding
  /** Other options of the handler. */
  readonly server?: Partial<Omit<HandlerOptions, 'store' | 'agents' | 'agent'>>
  /** Calls as this caller. Default: anonymous. */
  readonly caller?: Caller
}

export type { MessageInput }

/** The task and context of a message, its request metadata, and `configuration` fields such as `returnImmediately`. */
export interface TestSendOptions extends SendMessageConfiguration {
  /** Continues this task. Default: a new task. */
  readonly taskId?: string
  /** Continues this context. Default: a new context. */
  readonly contextId?: string
  /** Metadata of the request, not of the message. */
  readonly metadata?: SendMessageRequest['metadata']
}

/**
 * The events of one stream, as a client reads them. Unlike a client's stream it uses one connection and changes
 * nothing.
 */
export type TestStream = EventStream

/** An agent under test. Calls reject with A2AError. */
export interface TestAgent {
  /** Returns the text of the response; throws TASK_FAILED or INPUT_REQUIRED if there is none. */
  ask(message: MessageInput, options?: TestSendOptions): Promise<string>
  /** Sends a message and returns the task, or the direct reply. Check `kind` to tell them apart. */
  send(message: MessageInput, options?: TestSendOptions): Promise<AgentResponse>
  /** Opens a conversation, as a client has it: it continues the task that waits for an answer. */
  chat(options?: ConversationOptions): Conversation
  /** Sends a message when the stream is first read. */
  stream(message: MessageInput, options?: TestSendOptions & CallOptions): TestStream
  /** Subscribes to a task when the stream is first read; after `lastEventId` if given. */
  subscribe(taskId: string, options?: CallOptions): TestStream
  /** Returns the task with its last `historyLength` messages. Default: all. */
  get(taskId: string, historyLength?: number): Promise<Task>
  /** One page of the caller's tasks. */
  list(request?: ListTasksRequest): Promise<readonly Task[]>
  cancel(taskId: string): Promise<Task>
  /** The same agent, seen by a client of another version or over another binding. */
  as(version: VersionId, binding?: TestBinding): TestAgent
  /** The transport, for calls that the methods above do not cover. */
  readonly wire: TestWire
  /** Sends an HTTP request to the agent, whose origin is `http://agent.test`. */
  fetch(request: Request): Promise<Response>
  /** The gRPC address: `127.0.0.1` and a port that is opened at the first call. */
  grpcAddress(): Promise<string>
  /** Closes the agent and its store. */
  close(): Promise<void>
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const origin = 'http://agent.test'

/**
 * Runs an agent for tests, without a socket: each call takes the whole path through binding, version, engine and log.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { testAgent } from '@parley/a2a/testing'
 *
 * const agent = testAgent(({ text }) => `Hello, ${text}!`)
 * assert.equal(await agent.ask('Ada'), 'Hello, Ada!')
 * assert.equal(await agent.as('0.3', 'HTTP+JSON').ask('Ada'), 'Hello, Ada!')
 * await agent.close()
 * ```
 */
export function testAgent(agent: Agent, options: TestAgentOptions = {}): TestAgent {
  const {
    store = memoryStore(),
    version = newestVersion,
    binding = 'JSONRPC',
    server = {},
    caller,
    ...settings
  } = options
  const handler = createHandler({
    ...server,
    ...settings,
    agent,
    store,
    allowAnonymousList: true,
    ...(caller !== undefined ? { authenticate: () => caller } : {}),
  })
  const line = createLazyGrpcServer(handler)
  return seen(version, binding)

  /**
   * A socket would yield to other work between a request and its response; so does this, or a polling test starves its agent.
   */
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
    let client: Promise<RemoteAgent> | undefined
    const connected = (): Promise<RemoteAgent> => (client ??= connectOver(as, over))
    return {
      wire,
      ask: async (message, about) => requireCompletedText(await send(message, about)),
      send,
      chat: (options) =>
        createConversation(
          {
            stream: (message, about) =>
              createEventStream(async function* (signal) {
                yield* (await connected()).stream(message, { ...about, signal }).frames()
              }, about?.signal),
            get: async (id, about) => (await connected()).get(id, about),
          },
          options,
        ),
      stream: (message, about = {}) =>
        createEventStream(
          (signal) => wire.stream('SendStreamingMessage', requestOf(message, about), callOptions(about, signal)),
          about.signal,
        ),
      subscribe: (id, about = {}) =>
        createEventStream(
          (signal) => wire.stream('SubscribeToTask', { id }, callOptions(about, signal)),
          about.signal,
          about.lastEventId === undefined ? undefined : (taskId) => wire.call('GetTask', { id: taskId }),
        ),
      get: (id, historyLength) => wire.call('GetTask', { id, ...omitUndefined({ historyLength }) }),
      list: async (request = {}) => (await wire.call('ListTasks', request)).tasks,
      cancel: (id) => wire.call('CancelTask', { id }),
      as: (otherVersion, otherBinding = over) => seen(otherVersion, otherBinding),
      fetch: call,
      grpcAddress: async () => (await line()).address,
      close,
      [Symbol.asyncDispose]: close,
    }

    async function send(message: MessageInput, about: TestSendOptions = {}): Promise<AgentResponse> {
      return toAgentResponse(await wire.call('SendMessage', requestOf(message, about)))
    }
  }

  /** A real client; for gRPC of a card with the port that is open, which the public card does not list. */
  async function connectOver(as: VersionId, over: TestBinding): Promise<RemoteAgent> {
    const agent = await connect(origin, { fetch: call, version: as, prefer: [over] })
    if (over !== 'GRPC') return agent
    const { address: url, binding } = await line()
    const supportedInterfaces = [{ url, protocolBinding: over, protocolVersion: as }]
    return connect({ ...agent.card, supportedInterfaces }, { bindings: [binding], version: as })
  }

  async function close(): Promise<void> {
    await line.close()
    await handler.close()
  }
}

function callOptions({ lastEventId, headers }: CallOptions, signal: AbortSignal): CallOptions {
  return {
    signal,
    ...omitUndefined({ lastEventId, headers }),
  }
}

function requestOf(message: MessageInput, options: TestSendOptions & CallOptions): SendMessageRequest {
  const { taskId, contextId, metadata, signal: _, lastEventId: __, headers: ___, ...configuration } = options
  const given =
    typeof message === 'string' ? { parts: [{ text: message }] } : isParts(message) ? { parts: message } : message
  return {
    message: {
      messageId: newId(),
      role: 'ROLE_USER',
      ...omitUndefined({ taskId, contextId }),
      ...given,
    },
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...omitUndefined({ metadata }),
  }
}

function isParts(message: MessageInput): message is readonly Part[] {
  return Array.isArray(message)
}
