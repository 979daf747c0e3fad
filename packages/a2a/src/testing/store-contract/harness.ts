/** Shared by the files of the store contract: a store for each test, its clock, and short forms for appends. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../model/id.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import type { TaskState } from '../../model/state.ts'
import type { Part, TaskStatus } from '../../model/task.ts'
import type {
  Append,
  AppendResult,
  FeedEntry,
  FullStore,
  NewTask,
  Partition,
  PushRow,
  Store,
  TaskStore,
} from '../../stores/store.ts'

/** What a store may leave out of the facets that every store has. */
export type StoreFeature = 'retention' | 'snapshots'

/** A store under test, and how to reopen and release it. */
export interface OpenedStore<Subject extends Store = Store> {
  readonly store: Subject
  /** Closes the store and opens it again over the same data. Omitted for stores that are not durable. */
  readonly reopen?: () => Promise<Subject>
  /** What the store leaves out, and its tests. Default: nothing. */
  readonly without?: readonly StoreFeature[]
  /** The clock of the store, if it has an injected one; otherwise the suite lets real time pass. */
  readonly clock?: { now(): number; advance(ms: number): void }
  /** Releases everything, whether the store is still open or not. */
  dispose(): Promise<void>
}
/** Opens a fresh and empty store; called for every test. */
export type OpenStore<Subject extends Store = Store> = () => Promise<OpenedStore<Subject>>
/** A store with a feed. */
export type StoreWithFeed = Store & Pick<FullStore, 'feed'>
/** A store that can erase the data of an owner. */
export type StoreWithErasure = Store & Pick<FullStore, 'erasure' | 'previewPrune'>

export interface StoreTestContext<Subject extends Store> extends OpenedStore<Subject> {
  readonly hasSnapshots: boolean
  now(): number
  pass(ms: number): Promise<void>
}

/** A test over a fresh store, which is always released. Skipped for a store without one of the features. */
export function withStore<Subject extends Store>(
  open: OpenStore<Subject>,
  test: (subject: StoreTestContext<Subject>) => Promise<void>,
  ...features: readonly StoreFeature[]
): (t: TestContext) => Promise<void> {
  return async (t) => {
    const opened = await open()
    const { clock, without = [] } = opened
    const missing = features.filter((feature) => without.includes(feature))
    try {
      if (missing.length > 0) t.skip(`the store has no ${missing.join(' and no ')}`)
      else
        await test({
          ...opened,
          hasSnapshots: !without.includes('snapshots'),
          now: () => clock?.now() ?? Date.now(),
          pass: async (ms) => (clock === undefined ? sleep(ms + 5) : clock.advance(ms)),
        })
    } finally {
      await opened.dispose()
    }
  }
}

export const alicePartition: Partition = { tenant: 'acme', agent: 'echo', owner: 'alice' }
export const bobPartition: Partition = { ...alicePartition, owner: 'bob' }

/** Whole milliseconds, far from any real clock, so that the order in tests is the order written there. */
export const day0 = Date.UTC(2030, 0, 1)

export function taskStatusOf(state: TaskState, at: number = day0): TaskStatus {
  return { state, timestamp: new Date(at).toISOString() }
}

export function newTaskFields(fields: Partial<NewTask> & { readonly state?: TaskState } = {}): NewTask {
  const { state = 'TASK_STATE_SUBMITTED', ...rest } = fields
  const statusAt = rest.statusAt ?? day0
  const id = rest.id ?? newId()
  return {
    ...alicePartition,
    id,
    contextId: `context-of-${id}`,
    status: taskStatusOf(state, statusAt),
    statusAt,
    createdAt: statusAt,
    ...rest,
  }
}

interface AppendableStore {
  readonly tasks: Pick<TaskStore, 'append'>
}

/** Creates a task in one append. Without records its log begins with its status. */
export async function createTask(
  store: AppendableStore,
  fields: Parameters<typeof newTaskFields>[0] = {},
  append: Partial<Append> = {},
): Promise<NewTask> {
  const task = newTaskFields(fields)
  const records = [newRecord({ type: 'status', status: task.status }, task.statusAt)]
  const answer = await store.tasks.append(task.id, { expectedSeq: 0, create: task, records, ...append })
  assert.equal(answer.outcome, 'appended')
  return task
}

/** Appends and asserts success. */
export async function assertAppended(store: AppendableStore, taskId: string, append: Append) {
  const answer: AppendResult = await store.tasks.append(taskId, append)
  assert.equal(answer.outcome, 'appended', `expected to append, got ${JSON.stringify(answer)}`)
  return answer
}

/** Moves a task to another state by a status record. */
export async function moveTask(
  store: AppendableStore,
  taskId: string,
  expectedSeq: number,
  state: TaskState,
  at: number = day0,
) {
  const status = taskStatusOf(state, at)
  return assertAppended(store, taskId, {
    expectedSeq,
    records: [newRecord({ type: 'status', status }, at)],
    change: { status, statusAt: at },
  })
}

/** A task that was created and has ended, in one append. */
export function createFinished(store: Store, fields: Partial<NewTask> = {}): Promise<NewTask> {
  return createTask(store, { state: 'TASK_STATE_COMPLETED', ...fields })
}

export function newRecord(body: RecordBody, at: number = day0): { readonly at: number; readonly body: RecordBody } {
  return { at, body }
}

/** Visible records, distinguished by their text. */
export function chunks(...texts: readonly string[]) {
  return texts.map((text) => chunk({ text }))
}
export function chunk(part: Part, at: number = day0) {
  return newRecord({ type: 'artifact', artifact: { artifactId: 'answer', parts: [part] }, append: true }, at)
}

/** Internal records. */
export function noteRecords(...texts: readonly string[]) {
  return texts.map((text) => newRecord({ type: 'note', text }))
}

/** The content of a log, one word per record. */
export function recordTexts(records: readonly LogRecord[]): readonly string[] {
  return records.map(({ body }) => {
    if (body.type === 'note') return body.text
    if (body.type === 'status') return body.status.state
    const part = body.type === 'artifact' ? body.artifact.parts[0] : undefined
    return part !== undefined && 'text' in part ? part.text : body.type
  })
}

/** When the records of a log were written, in milliseconds after day 0. */
export async function timesOf(store: Store, taskId: string): Promise<readonly number[]> {
  return (await store.tasks.read(taskId, 0)).map(({ at }) => at - day0)
}

export function newPushRow(taskId: string, fields: Partial<PushRow> = {}): PushRow {
  return {
    taskId,
    id: 'hook',
    config: { url: 'https://hooks.example.com/a', headers: { authorization: 'Bearer x' } },
    deliveredSeq: 0,
    attempt: 0,
    state: 'active',
    createdAt: day0,
    ...fields,
  }
}

/**
 * The feed once it has this many entries. A database holds it back while older transactions are open, including those of other
 * users of the same server: creating a database can take seconds there.
 */
export async function feedOf(store: StoreWithFeed, entries: number, position = 0): Promise<readonly FeedEntry[]> {
  const giveUpAt = performance.now() + 120_000
  for (;;) {
    const feed = await store.feed.read(position, 1_000)
    if (feed.length >= entries || performance.now() > giveUpAt) return feed
    await sleep(20)
  }
}

/** Opens the data again; fails if the store under test has no way to. */
export function reopened<Subject extends Store>({ reopen }: OpenedStore<Subject>): Promise<Subject> {
  assert.ok(reopen, 'a store that keeps its data must be given with a way to open it again')
  return reopen()
}

export const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id)
