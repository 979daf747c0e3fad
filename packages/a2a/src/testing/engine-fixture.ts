/**
 * An engine with an agent, a caller and short times: what the tests of the engine set up.
 * Everything is real, the store included; only the distance to a socket is missing.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import type { AgentEntry, AgentOptions, CallContext, Engine, EngineParts, StreamItem } from '../engine/contract.ts'
import { createEngine } from '../engine/engine.ts'
import { openKeyring } from '../engine/keyring.ts'
import { clockOf } from '../model/clock.ts'
import { newId } from '../model/id.ts'
import type { SendMessageConfiguration, SendMessageResponse } from '../model/operation.ts'
import type { LogRecord } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, Part, Struct, Task } from '../model/task.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'

export interface HouseOptions extends Partial<
  Pick<EngineParts, 'store' | 'now' | 'monotonicNow' | 'signer' | 'sweepMs' | 'retention' | 'push'>
> {
  readonly options?: Partial<AgentOptions>
  readonly entry?: Partial<Omit<AgentEntry, 'agent' | 'options'>>
  readonly limits?: Partial<EngineParts['limits']>
  /** Looked up instead of the agent given, so that it can change or go. */
  readonly lookUp?: (name: string) => Agent | undefined
}

/** What a call may say beside its message. */
export interface How extends SendMessageConfiguration {
  readonly metadata?: Struct
  /** Of the context: who calls, which agent, from which event on. */
  readonly as?: Partial<CallContext>
}

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Record<string, unknown> | undefined
}

export interface House {
  readonly engine: Engine
  readonly store: Store
  /** What the engine said to its operator. */
  readonly lines: readonly LogLine[]
  send(said: string | Partial<Message>, how?: How): Promise<SendMessageResponse>
  /** Sends and insists on a task. */
  task(said: string | Partial<Message>, how?: How): Promise<Task>
  /** The same, without waiting for it. */
  start(said: string | Partial<Message>, how?: How): Promise<Task>
  stream(said: string | Partial<Message>, how?: How): Promise<Reader>
  subscribe(id: string, as?: Partial<CallContext>, finished?: 'refuse' | 'replay'): Promise<Reader>
  get(id: string, as?: Partial<CallContext>): Promise<Task>
  cancel(id: string, as?: Partial<CallContext>): Promise<Task>
  /** Resolves with the task once it is in this state. */
  reaches(id: string, state: TaskState): Promise<Task>
  /** The whole log, internal records included. */
  log(id: string): Promise<readonly LogRecord[]>
}

export const shortTimes: AgentOptions = {
  // More than the leases that tests let run out by moving the clock: what is taken up again is not to be late as well.
  turnTimeoutMs: 60_000,
  whenBusy: 'queue',
  cancelGraceMs: 20,
  openAfterMs: 20,
  coalesceText: true,
  keepOpenOnInputRequired: false,
  idempotencyWindowMs: 60_000,
}

export const alice: CallContext = {
  agent: 'agent',
  tenant: '',
  caller: { id: 'alice' },
  signal: new AbortController().signal,
  extensions: [],
  mayList: true,
}

/** Closed when the test ends. */
export async function openHouse(
  t: Pick<TestContext, 'after'>,
  agent: Agent,
  options: HouseOptions = {},
): Promise<House> {
  const { store = memoryStore(), lookUp = () => agent } = options
  const lines: LogLine[] = []
  const line = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    lines.push({ level, message, fields })
  }
  const entries = new Map<Agent, AgentEntry>()
  const engine = createEngine({
    store,
    agent(name) {
      const found = lookUp(name)
      if (found === undefined) return undefined
      const entry = entries.get(found) ?? entryOf(found, options)
      entries.set(found, entry)
      return entry
    },
    limits: {
      parts: 100,
      metadataDepth: 20,
      jsonNodes: 100_000,
      tasksPerCaller: Infinity,
      waitMs: 5_000,
      ...options.limits,
    },
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    ...clockOf(options),
    signer: options.signer ?? (await openKeyring(store)),
    ...(options.retention !== undefined ? { retention: options.retention } : {}),
    ...(options.push !== undefined ? { push: options.push } : {}),
    sweepMs: options.sweepMs ?? 10,
  })
  await engine.start()
  t.after(() => engine.close())
  return describeHouse(engine, store, lines)
}

function entryOf(agent: Agent, { options, entry }: HouseOptions): AgentEntry {
  return { agent, inputModes: [], outputModes: [], streaming: true, ...entry, options: { ...shortTimes, ...options } }
}

function describeHouse(engine: Engine, store: Store, lines: readonly LogLine[]): House {
  const house: House = {
    engine,
    store,
    lines,
    send: (said, how = {}) => engine.sendMessage(requestOf(said, how), { ...alice, ...how.as }),
    async task(said, how) {
      const answer = await house.send(said, how)
      assert.ok('task' in answer, `expected a task, got ${JSON.stringify(answer)}`)
      return answer.task
    },
    start: (said, how) => house.task(said, { ...how, returnImmediately: true }),
    async stream(said, how = {}) {
      return createReader(await engine.streamMessage(requestOf(said, how), { ...alice, ...how.as }))
    },
    async subscribe(id, as, finished = 'refuse') {
      return createReader(await engine.subscribe({ id }, { ...alice, ...as }, finished))
    },
    get: (id, as) => engine.getTask({ id }, { ...alice, ...as }),
    cancel: (id, as) => engine.cancelTask({ id }, { ...alice, ...as }),
    async reaches(id, state) {
      await eventually(async () => (await house.get(id)).status.state === state, `task ${id} to be ${state}`)
      return house.get(id)
    },
    log: (id) => store.read(id, 0),
  }
  return house
}

export function userMessage(said: string | Partial<Message>): Message {
  const given = typeof said === 'string' ? { parts: [{ text: said }] } : said
  return { messageId: newId(), role: 'ROLE_USER', parts: [{ text: 'hi' }], ...given }
}

function requestOf(said: string | Partial<Message>, { as: _, metadata, ...configuration }: How) {
  return { message: userMessage(said), configuration, ...(metadata !== undefined ? { metadata } : {}) }
}

/** A stream, read one event at a time. */
export interface Reader {
  next(): Promise<StreamItem | undefined>
  /** All that come until the stream ends. */
  rest(): Promise<readonly StreamItem[]>
  /** All up to and with the first one that fits. */
  through(fits: (item: StreamItem) => boolean): Promise<readonly StreamItem[]>
  close(): Promise<void>
}

function createReader(stream: AsyncIterable<readonly StreamItem[]>): Reader {
  const source = stream[Symbol.asyncIterator]()
  const arrived: StreamItem[] = []
  const reader: Reader = {
    async next() {
      while (arrived.length === 0) {
        const batch = await source.next()
        if (batch.done === true) return undefined
        arrived.push(...batch.value)
      }
      return arrived.shift()
    },
    rest: () => reader.through(() => false),
    async through(fits) {
      const items: StreamItem[] = []
      for (let item = await reader.next(); item !== undefined; item = await reader.next()) {
        items.push(item)
        if (fits(item)) break
      }
      return items
    },
    async close() {
      await source.return?.()
    },
  }
  return reader
}

/** Looks again in each turn of the event loop, and gives up after a minute: only what never comes to be takes as long. */
export async function eventually(holds: () => boolean | Promise<boolean>, what = 'a condition'): Promise<void> {
  const giveUpAt = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > giveUpAt) assert.fail(`waited in vain for ${what}`)
    await nextTick()
  }
}

/** The state that an event brings, if it does. */
export function stateOf({ event }: StreamItem): TaskState | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}

export function statesOf(items: readonly StreamItem[]): readonly string[] {
  return items
    .map(stateOf)
    .filter((state) => state !== undefined)
    .map(short)
}

/** `TASK_STATE_WORKING` as WORKING: tests compare many of them. */
export const short = (state: TaskState): string => state.replace('TASK_STATE_', '')

/** The texts of the artifact chunks, as they came. */
export function chunksOf(items: readonly StreamItem[]): readonly string[] {
  return items.flatMap(({ event }) => ('artifactUpdate' in event ? [joined(event.artifactUpdate.artifact.parts)] : []))
}

/** The text of an artifact. */
export function answerOf(task: Task, artifactId = 'answer'): string | undefined {
  const found = task.artifacts?.find((artifact) => artifact.artifactId === artifactId)
  return found && joined(found.parts)
}

/** What is said in a message, such as that of a status. */
export const saying = (message: Message | undefined): string | undefined => message && joined(message.parts)

export const historyOf = (task: Task): readonly (string | undefined)[] => (task.history ?? []).map(saying)

function joined(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join('')
}

export const typesOf = (records: readonly LogRecord[]): readonly string[] => records.map(({ body }) => body.type)
