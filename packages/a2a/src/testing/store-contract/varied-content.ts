/** Everything that a store can contain, and the values that are hard to carry from one store to another. */
import type { Part, Task } from '../../model/task.ts'
import type { FullStore } from '../../stores/store.ts'
import {
  assertAppended,
  chunk,
  chunks,
  createTask,
  day0,
  moveTask,
  newPushRow,
  newRecord,
  noteRecords,
  taskStatusOf,
} from './harness.ts'

/** Larger than a store keeps in a log. */
const bytes = Buffer.alloc(100_000, 'Parley').toString('base64')
/** Not base64 as an encoder writes it: a store keeps it as text. */
const unusualBase64 = `${'A'.repeat(100_001)}\u0000 é "\\`
/** Not bytes, although it looks like a reference to them. */
const looksLikeReference = `sha256:${'0'.repeat(64)}t`
const hardText = '\u0000 \ud800 \u2028 \n "quoted" \\u0000 \\ud800 \u{1f600} __proto__'
const hardJson = JSON.parse('{"__proto__":{"a":1},"10":1,"2":[],"a":{"é":null},"":"x"}') as Record<string, never>

const minute = 60_000
const hour = 60 * minute

/** Fills an empty store whose clock is near `day0`. Leaves tasks in every state, some of them in work. */
export async function fillWithVariedContent(store: FullStore): Promise<void> {
  await tasksInWork(store)
  await tasksWithBytes(store)
  await tasksWithPushes(store)
  await droppedLog(store)
  await besideTasks(store)
}

async function tasksInWork(store: FullStore): Promise<void> {
  const claim = (key: string, ttlMs = 24 * hour) => ({ key, hash: `hash of ${key}`, ttlMs })
  await createTask(store, { id: 'submitted' }, { idempotency: claim('first') })
  const take = { holder: 'replica-1', ttlMs: hour }
  const due = { kind: 'turn', at: day0 + hour } as const
  await createTask(store, { id: 'running', due }, { take, idempotency: claim('forever', Infinity) })
  const waiting = { kind: 'input', at: day0 + 2 * hour } as const
  await createTask(store, { id: 'waiting', state: 'TASK_STATE_INPUT_REQUIRED', due: waiting })
  // Of another owner, with names that no store may change.
  const owner = { tenant: '', agent: 'agent/ü', owner: 'bob\n@example.com' }
  await createTask(store, { id: 'other', ...owner, metadata: { hard: hardText, json: hardJson } })
  await assertAppended(store, 'other', { expectedSeq: 1, records: chunks(hardText, 'two', 'three') })
  await assertAppended(store, 'other', { expectedSeq: 4, records: noteRecords('internal') })
  // A record that is written earlier than the one before it counts as no earlier.
  await assertAppended(store, 'other', { expectedSeq: 5, records: [chunk({ text: 'late' }, day0 - hour)] })
  await createTask(store, { id: 'claimed twice' }, { idempotency: claim('short', 1) })
}

async function tasksWithBytes(store: FullStore): Promise<void> {
  const parts: readonly Part[] = [{ raw: bytes }, { raw: unusualBase64 }, { raw: looksLikeReference }]
  for (const id of ['bytes', 'same bytes']) {
    await createTask(store, { id, metadata: { long: 'm'.repeat(10_000) } })
    for (const [index, part] of parts.entries()) {
      await assertAppended(store, id, { expectedSeq: index + 1, records: [chunk(part)] })
    }
  }
  await assertAppended(store, 'bytes', { expectedSeq: 4, records: [chunk({ text: looksLikeReference })] })
  // A status that is long and contains bytes, in the row of the task.
  const status = {
    ...taskStatusOf('TASK_STATE_COMPLETED', day0 + minute),
    message: {
      messageId: 'm1',
      role: 'ROLE_AGENT' as const,
      parts: [{ text: 'long '.repeat(20_000) }, { raw: unusualBase64 }, { raw: bytes }],
    },
  }
  const records = [newRecord({ type: 'status', status }, day0 + minute)]
  await assertAppended(store, 'bytes', { expectedSeq: 5, records, change: { status, statusAt: day0 + minute } })
}

async function tasksWithPushes(store: FullStore): Promise<void> {
  const { push } = store
  await createTask(store, { id: 'pushed' })
  await createTask(store, { id: 'delivered' })
  await push.save(newPushRow('delivered', { id: 'second', deliveredSeq: 1, state: 'done' }))
  await push.save(newPushRow('pushed', { id: 'due' }))
  await push.save(newPushRow('pushed', { id: 'idle', deliveredSeq: 1 }))
  await push.save(newPushRow('delivered', { id: 'dead', state: 'dead', attempt: 12, config: { hard: hardText } }))
  const attempt = {
    taskId: 'pushed',
    pushId: 'due',
    seq: 1,
    at: day0,
    attempt: 1,
    outcome: 'HTTP 500',
    durationMs: 12.25,
  }
  await push.recordAttempt(attempt)
  await push.recordAttempt({ ...attempt, attempt: 2, answer: 'NUL \u0000 é' })
  await push.recordAttempt({ ...attempt, taskId: 'delivered', pushId: 'of a deleted config' })
}

async function droppedLog(store: FullStore): Promise<void> {
  await createTask(store, { id: 'dropped' })
  await assertAppended(store, 'dropped', { expectedSeq: 1, records: [chunk({ raw: unusualBase64 })] })
  await moveTask(store, 'dropped', 2, 'TASK_STATE_COMPLETED', day0 - hour)
  const status = taskStatusOf('TASK_STATE_COMPLETED', day0 - hour)
  const task: Task = {
    id: 'dropped',
    contextId: 'context-of-dropped',
    status,
    artifacts: [{ artifactId: 'answer', parts: [{ raw: unusualBase64 }, { text: hardText }] }],
  }
  await store.tasks.saveSnapshot('dropped', { seq: 3, task, internal: { bytes: 10, hard: hardText } })
  await store.prune({ logBefore: day0 - minute, batch: 100 })
}

async function besideTasks({ kv, keys }: FullStore): Promise<void> {
  await kv.write('sessions', { key: 'plain', value: { a: [1, 2, null] } })
  await kv.write('sessions', { key: 'plain', value: hardText })
  await kv.write('sessions', { key: '\ud800', value: 1 })
  await kv.write('sessions', { key: '\udfff', value: hardJson })
  await kv.write('\ud801\u0000', { key: '', value: false })
  await kv.write('counters', { key: 'expired', value: 1, expiresAt: day0 + 1 })
  await kv.write('counters', { key: 'expiring', value: 1, expiresAt: day0 + 24 * hour })
  await kv.add('counters', 'large', 1e15, day0 + 24 * hour)
  await kv.add('counters', 'large', 1, day0 + 24 * hour)
  await kv.add('counters', 'fraction', 0.1, day0 + 24 * hour)
  await keys.save({ id: 'k2', purpose: 'push', material: 'wrapped two', createdAt: day0 + 1 })
  await keys.save({ id: 'k1', purpose: 'card', material: 'wrapped one', createdAt: day0 })
}
