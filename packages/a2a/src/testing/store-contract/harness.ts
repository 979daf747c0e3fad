/** What the pieces of the store contract share: a store for each test, its clock, and short ways to say what is appended. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../model/id.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import type { TaskState } from '../../model/state.ts'
import type { Part, TaskStatus } from '../../model/task.ts'
import type { Append, Appended, FeedEntry, NewTask, Partition, PushRow, Store } from '../../stores/store.ts'

export interface OpenedStore {
  readonly store: Store
  /** Closes the store and opens it again over the same data. Left out by stores that keep nothing. */
  readonly reopen?: () => Promise<Store>
  /** For a store that is given its clock. Others let real time pass. */
  readonly clock?: { now(): number; advance(ms: number): void }
  /** Lets go of everything, whether the store is still open or not. */
  dispose(): Promise<void>
}
export type OpenStore = () => Promise<OpenedStore>

export interface Subject extends OpenedStore {
  now(): number
  pass(ms: number): Promise<void>
}

/** A test over a fresh store, which is let go of in any case. */
export function withStore(open: OpenStore, test: (subject: Subject) => Promise<void>): () => Promise<void> {
  return async () => {
    const opened = await open()
    const { clock } = opened
    try {
      await test({
        ...opened,
        now: () => clock?.now() ?? Date.now(),
        pass: async (ms) => (clock === undefined ? sleep(ms + 5) : clock.advance(ms)),
      })
    } finally {
      await opened.dispose()
    }
  }
}

export const alice: Partition = { tenant: 'acme', agent: 'echo', owner: 'alice' }
export const bob: Partition = { ...alice, owner: 'bob' }

/** Whole milliseconds, far from any real clock, so that an order in tests is the order written there. */
export const day0 = Date.UTC(2030, 0, 1)

export function statusOf(state: TaskState, at: number = day0): TaskStatus {
  return { state, timestamp: new Date(at).toISOString() }
}

export function newTask(fields: Partial<NewTask> & { readonly state?: TaskState } = {}): NewTask {
  const { state = 'TASK_STATE_SUBMITTED', ...rest } = fields
  const statusAt = rest.statusAt ?? day0
  const id = rest.id ?? newId()
  return {
    ...alice,
    id,
    contextId: `context-of-${id}`,
    status: statusOf(state, statusAt),
    statusAt,
    createdAt: statusAt,
    ...rest,
  }
}

/** Makes a task in one append. Without records its log begins with its status. */
export async function create(
  store: Pick<Store, 'append'>,
  fields: Parameters<typeof newTask>[0] = {},
  append: Partial<Append> = {},
): Promise<NewTask> {
  const task = newTask(fields)
  const records = [record({ type: 'status', status: task.status }, task.statusAt)]
  const answer = await store.append(task.id, { expectedSeq: 0, create: task, records, ...append })
  assert.equal(answer.outcome, 'appended')
  return task
}

/** Appends and insists that it worked. */
export async function appended(store: Pick<Store, 'append'>, taskId: string, append: Append) {
  const answer: Appended = await store.append(taskId, append)
  assert.equal(answer.outcome, 'appended', `expected to append, got ${JSON.stringify(answer)}`)
  return answer
}

/** Moves a task to another state by a status record. */
export async function move(
  store: Pick<Store, 'append'>,
  taskId: string,
  expectedSeq: number,
  state: TaskState,
  at: number = day0,
) {
  const status = statusOf(state, at)
  return appended(store, taskId, {
    expectedSeq,
    records: [record({ type: 'status', status }, at)],
    change: { status, statusAt: at },
  })
}

/** A task that was made and has ended, in one append. */
export function createFinished(store: Store, fields: Partial<NewTask> = {}): Promise<NewTask> {
  return create(store, { state: 'TASK_STATE_COMPLETED', ...fields })
}

export function record(body: RecordBody, at: number = day0): { readonly at: number; readonly body: RecordBody } {
  return { at, body }
}

/** Visible records, told apart by their text. */
export function chunks(...texts: readonly string[]) {
  return texts.map((text) => chunk({ text }))
}
export function chunk(part: Part, at: number = day0) {
  return record({ type: 'artifact', artifact: { artifactId: 'answer', parts: [part] }, append: true }, at)
}

/** Internal records. */
export function notes(...texts: readonly string[]) {
  return texts.map((text) => record({ type: 'note', text }))
}

/** What a log says, one word a record. */
export function words(records: readonly LogRecord[]): readonly string[] {
  return records.map(({ body }) => {
    if (body.type === 'note') return body.text
    if (body.type === 'status') return body.status.state
    const part = body.type === 'artifact' ? body.artifact.parts[0] : undefined
    return part !== undefined && 'text' in part ? part.text : body.type
  })
}

/** When the records of a log were written, in milliseconds after day 0. */
export async function timesOf(store: Store, taskId: string): Promise<readonly number[]> {
  return (await store.read(taskId, 0)).map(({ at }) => at - day0)
}

export function push(taskId: string, fields: Partial<PushRow> = {}): PushRow {
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
 * The feed once it has so many entries. A database holds it back while transactions are open that began earlier, also those
 * of others on the same server: making a database can take seconds there.
 */
export async function feedOf(store: Store, entries: number, position = 0): Promise<readonly FeedEntry[]> {
  const giveUpAt = performance.now() + 60_000
  for (;;) {
    const feed = await store.feed(position, 1_000)
    if (feed.length >= entries || performance.now() > giveUpAt) return feed
    await sleep(20)
  }
}

export const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id)
