import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type TaskState } from '@parley/a2a'
import type { LogRecord, RecordBody, Store, TaskRow } from '@parley/a2a/stores'
import { recordsBytes } from '@parley/a2a/internal'
import { createTaskFacts } from './task-facts.ts'
import { taskSummaryOf } from './task-view.ts'

const said = (text: string): RecordBody => ({
  type: 'message',
  message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] },
})
const status = (state: string): RecordBody => ({
  type: 'status',
  status: { state: `TASK_STATE_${state}` as TaskState },
})
const chunk = (text: string, append = true): RecordBody => ({
  type: 'artifact',
  artifact: { artifactId: 'answer', parts: [{ text }] },
  append,
})
const note = (text: string): RecordBody => ({ type: 'note', text })
const span: RecordBody = {
  type: 'span',
  span: { spanId: 's', parentId: 'p', name: 'search', kind: 'tool', startedAt: 0, endedAt: 1, outcome: 'ok' },
}
const chunks = (count: number): readonly RecordBody[] =>
  Array.from({ length: count }, (_, index) => chunk(`w${index} `, index > 0))

/** Records every 100 ms, in a task whose status is that of the last one. */
async function write(bodies: readonly RecordBody[]): Promise<{ store: Store; row: TaskRow }> {
  const store = memoryStore()
  const last = bodies.findLast((body) => body.type === 'status')
  if (last?.type !== 'status') throw new Error('a task has a status')
  const consumedSeq = bodies.findLastIndex(({ type }) => type === 'message') + 1
  await store.tasks.append('t', {
    expectedSeq: 0,
    records: bodies.map((body, index) => ({ at: index * 100, body })),
    create: {
      id: 't',
      contextId: 'c',
      tenant: '',
      agent: 'echo',
      owner: 'ann',
      status: last.status,
      statusAt: (bodies.length - 1) * 100,
      createdAt: 0,
      consumedSeq,
    },
  })
  return { store, row: (await store.tasks.load('t')) as TaskRow }
}

async function factsOf(bodies: readonly RecordBody[], isExact?: boolean) {
  const { store, row } = await write(bodies)
  return createTaskFacts(store).read(row, isExact)
}

describe('the facts of a task', () => {
  it('have the first message and the beginning of the first artifact, also of a long answer', async () => {
    const short = await factsOf([said('Hello'), status('WORKING'), chunk('A ', false), chunk('b'), status('COMPLETED')])
    assert.deepEqual(short, { title: 'Hello', result: 'A b', waitingMs: 0 })
    const long = await factsOf([said('Hello'), status('WORKING'), ...chunks(3_000), status('COMPLETED')])
    assert.match(long.result ?? '', /^w0 w1 w2 /)
    assert.equal(long.waitingMs, 0)
  })

  it('have 400 characters of an answer between spans of tools', async () => {
    const answer = Array.from({ length: 120 }, (_, index) => [chunk(`word${index} `, index > 0), span]).flat()
    const spans = Array.from({ length: 30 }, () => span)
    const { result = '' } = await factsOf([said('x'), ...spans, ...answer, status('COMPLETED')])
    assert.match(result, /^word0 word1 /)
    assert.equal(result.length, 400)
  })

  it('read at most 200 records and 256 kB for the result, and those of an ended task once', async () => {
    async function readsOf(bodies: readonly RecordBody[]) {
      const { store, row } = await write(bodies)
      const reads: LogRecord[] = []
      const read: Store['tasks']['read'] = async (...query) => {
        const page = await store.tasks.read(...query)
        reads.push(...page)
        return page
      }
      const facts = createTaskFacts({ tasks: { ...store.tasks, read } })
      const results = [(await facts.read(row)).result, (await facts.read(row)).result]
      return { results, reads }
    }
    const spans = Array.from({ length: 300 }, () => span)
    const many = await readsOf([said('x'), chunk('The ', false), ...spans, chunk('end'), status('COMPLETED')])
    assert.deepEqual(many, { results: ['The', 'The'], reads: many.reads.slice(0, 200) })
    const large = Array.from({ length: 30 }, () => note('x'.repeat(20_000)))
    const bytes = recordsBytes((await readsOf([said('x'), ...large, status('WORKING'), status('COMPLETED')])).reads)
    // A read ends with the record that exceeds its bytes. The last records explain how the task ended.
    assert.ok(bytes < 256_000 + 7 * 21_000, `${bytes} bytes`)
    const ended = { ...chunk('Done', false), lastChunk: true } as RecordBody
    assert.equal((await readsOf([said('x'), ended, ...spans, status('COMPLETED')])).reads.length, 16)
  })

  it('describe a result without text', async () => {
    const data: RecordBody = { type: 'artifact', artifact: { artifactId: 'a', parts: [{ data: { city: 'Rome' } }] } }
    assert.equal((await factsOf([said('x'), data, status('COMPLETED')])).result, '{"city":"Rome"}')
    const file: RecordBody = {
      type: 'artifact',
      artifact: { artifactId: 'a', parts: [{ raw: '', filename: 'map.png' }] },
    }
    assert.equal((await factsOf([said('x'), file, status('COMPLETED')])).result, 'map.png')
  })

  it('count the time until the answer, in all waits', async () => {
    // Waits for 300 ms until the message, and for 100 ms until the next status.
    const bodies = [
      said('Book'),
      status('WORKING'),
      status('INPUT_REQUIRED'),
      note('in between'),
      note('in between'),
      said('Rome'),
      status('WORKING'),
      status('AUTH_REQUIRED'),
      status('WORKING'),
      status('COMPLETED'),
    ]
    assert.equal((await factsOf(bodies)).waitingMs, 400)
    const canceled = [said('Book'), ...chunks(30), status('INPUT_REQUIRED'), status('CANCELED')]
    assert.equal((await factsOf(canceled)).waitingMs, 100)
    // The wait that is not over yet is not included.
    assert.equal((await factsOf([said('Book'), status('INPUT_REQUIRED')])).waitingMs, 0)
  })

  it('omit the waiting time of a very long log with several messages, unless it is requested', async () => {
    const bodies = [said('a'), status('INPUT_REQUIRED'), said('b'), ...chunks(2_000), status('COMPLETED')]
    const { store, row } = await write(bodies)
    const facts = createTaskFacts(store)
    assert.equal((await facts.read(row)).waitingMs, undefined)
    assert.equal((await facts.read(row, true)).waitingMs, 100)
    assert.equal((await facts.read(row)).waitingMs, 100)
  })

  it('have the error of a failed task, and its causes in one line', async () => {
    const error =
      'A2AError: Unreachable\n    at x.ts:1\nCaused by: Error: connect ECONNREFUSED 127.0.0.1:9\n    at y.ts:2'
    const bodies = [said('x'), ...chunks(30), note(error), note('queued messages were dropped: x'), status('FAILED')]
    const { store, row } = await write(bodies)
    const facts = await createTaskFacts(store).read(row)
    assert.equal(facts.cause, error)
    assert.equal(taskSummaryOf(row, facts).cause, 'Unreachable: connect ECONNREFUSED 127.0.0.1:9')
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'Unreachable' }] }
    const failed = { ...row, status: { ...row.status, message } }
    assert.equal(taskSummaryOf(failed, facts).cause, 'connect ECONNREFUSED 127.0.0.1:9')
  })

  it('come from the snapshot if the log was dropped', async () => {
    const { store, row } = await write([said('long ago'), chunk('Done', false), status('COMPLETED')])
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'long ago' }] }
    const artifacts = [{ artifactId: 'answer', parts: [{ text: 'Done' }] }]
    const task = { id: 't', contextId: 'c', status: row.status, history: [message], artifacts }
    await store.tasks.saveSnapshot('t', { seq: 3, task, internal: {} })
    await store.prune({ logBefore: 10_000, batch: 10 })
    assert.deepEqual(await createTaskFacts(store).read(row), { title: 'long ago', result: 'Done' })
  })
})
