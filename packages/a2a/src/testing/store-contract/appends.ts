/** Compare-and-append: which writer wins, what each writer gets back, and that an append is atomic. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskChange, TaskRow } from '../../stores/store.ts'
import {
  type OpenStore,
  alicePartition,
  assertAppended,
  chunks,
  createTask,
  day0,
  newTaskFields,
  noteRecords,
  newRecord,
  taskStatusOf,
  withStore,
  recordTexts,
} from './harness.ts'

export function appendContract(open: OpenStore): void {
  describe('appending', () => {
    it(
      'creates a task by its first append and returns its head',
      withStore(open, async ({ store }) => {
        const task = newTaskFields({ metadata: { origin: 'test' } })
        const answer = await store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a', 'b') })
        assert.deepEqual(answer, { outcome: 'appended', head: 2 })
        const row: TaskRow = { ...task, head: 2, consumedSeq: 0 }
        assert.deepEqual(await store.tasks.load(task.id), row)
      }),
    )

    it(
      'keeps everything of the first append: consumed messages, a due time, a change',
      withStore(open, async ({ store }) => {
        const due = { kind: 'turn', at: day0 + 5_000 } as const
        const task = await createTask(store, { due, consumedSeq: 1 })
        assert.deepEqual(await store.tasks.load(task.id), { ...task, head: 1, consumedSeq: 1, due })
        const status = taskStatusOf('TASK_STATE_WORKING', day0 + 1)
        const changed = await createTask(store, {}, { change: { status, statusAt: day0 + 1, consumedSeq: 1 } })
        assert.deepEqual(await store.tasks.load(changed.id), {
          ...changed,
          status,
          statusAt: day0 + 1,
          head: 1,
          consumedSeq: 1,
        })
      }),
    )

    it(
      'numbers records without a gap, across appends',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, { records: chunks('a', 'b') })
        await assertAppended(store, task.id, { expectedSeq: 2, records: noteRecords('c', 'd', 'e') })
        const log = await store.tasks.read(task.id, 0)
        assert.deepEqual(
          log.map(({ seq }) => seq),
          [1, 2, 3, 4, 5],
        )
        assert.deepEqual(recordTexts(log), ['a', 'b', 'c', 'd', 'e'])
      }),
    )

    it(
      'returns a conflict with the head, and writes nothing, if the log does not end where expected',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, { records: chunks('a', 'b') })
        const before = await store.tasks.load(task.id)
        for (const expectedSeq of [0, 1, 3]) {
          const answer = await store.tasks.append(task.id, {
            expectedSeq,
            records: chunks('x'),
            change: { status: taskStatusOf('TASK_STATE_FAILED'), statusAt: day0 + 1 },
          })
          assert.deepEqual(answer, { outcome: 'conflict', head: 2 })
        }
        assert.deepEqual(await store.tasks.load(task.id), before)
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), ['a', 'b'])
      }),
    )

    it(
      'returns a conflict at 0 for an unknown task',
      withStore(open, async ({ store }) => {
        const answer = await store.tasks.append('unknown', { expectedSeq: 0, records: chunks('x') })
        assert.deepEqual(answer, { outcome: 'conflict', head: 0 })
        assert.deepEqual(await store.tasks.append('unknown', { expectedSeq: 4, records: [] }), answer)
        assert.deepEqual(await store.tasks.append('unknown', { expectedSeq: 4, records: [], fence: 1 }), answer)
        assert.equal(await store.tasks.load('unknown'), undefined)
      }),
    )

    it(
      'does not create a task twice',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, { records: chunks('first') })
        const again = await store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('second') })
        assert.deepEqual(again, { outcome: 'conflict', head: 1 })
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), ['first'])
      }),
    )

    it(
      'lets exactly one of many concurrent appends win',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        const rivals = Array.from({ length: 20 }, (_, n) =>
          store.tasks.append(task.id, { expectedSeq: 1, records: chunks(`writer ${n}`) }),
        )
        const answers = await Promise.all(rivals)
        const winner = answers.findIndex(({ outcome }) => outcome === 'appended')
        assert.equal(answers.filter(({ outcome }) => outcome === 'appended').length, 1)
        assert.equal(answers.filter((answer) => answer.outcome === 'conflict' && answer.head === 2).length, 19)
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 1)), [`writer ${winner}`])
      }),
    )

    it(
      'lets exactly one of many concurrent openers of the same task win',
      withStore(open, async ({ store }) => {
        const task = newTaskFields()
        const answers = await Promise.all(
          Array.from({ length: 10 }, () =>
            store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a') }),
          ),
        )
        assert.equal(answers.filter(({ outcome }) => outcome === 'appended').length, 1)
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), ['a'])
      }),
    )

    it(
      'applies appends that were requested without waiting in their order',
      withStore(open, async ({ store }) => {
        const task = newTaskFields()
        const answers = await Promise.all([
          store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a') }),
          store.tasks.append(task.id, { expectedSeq: 1, records: chunks('b', 'c') }),
          store.tasks.append(task.id, { expectedSeq: 3, records: chunks('d') }),
        ])
        assert.deepEqual(
          answers.map(({ outcome }) => outcome),
          ['appended', 'appended', 'appended'],
        )
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), ['a', 'b', 'c', 'd'])
      }),
    )

    it(
      'keeps an append atomic among others that are refused',
      withStore(open, async ({ store }) => {
        const tasks = Array.from({ length: 12 }, () => newTaskFields())
        const answers = await Promise.all(
          tasks.flatMap((task, n) => [
            store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a') }),
            store.tasks.append(task.id, { expectedSeq: n % 2 === 0 ? 1 : 7, records: chunks('b') }),
          ]),
        )
        for (const [n, task] of tasks.entries()) {
          assert.equal(answers[2 * n]?.outcome, 'appended')
          assert.equal(answers[2 * n + 1]?.outcome, n % 2 === 0 ? 'appended' : 'conflict')
          assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), n % 2 === 0 ? ['a', 'b'] : ['a'])
        }
      }),
    )

    it(
      'changes only the given fields of the row',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, { due: { kind: 'turn', at: day0 + 9 } })
        const status = taskStatusOf('TASK_STATE_WORKING', day0 + 1)
        const steps: {
          readonly change?: TaskChange
          readonly then: Partial<TaskRow>
        }[] = [
          { then: {} },
          { change: { consumedSeq: 1 }, then: { consumedSeq: 1 } },
          { change: { status, statusAt: day0 + 1 }, then: { status, statusAt: day0 + 1 } },
          { change: { due: { kind: 'input', at: day0 + 50 } }, then: { due: { kind: 'input', at: day0 + 50 } } },
        ]
        let expected: TaskRow = { ...task, due: { kind: 'turn', at: day0 + 9 }, head: 1, consumedSeq: 0 }
        for (const { change, then } of steps) {
          const { head } = await assertAppended(store, task.id, {
            expectedSeq: expected.head,
            records: noteRecords('x'),
            ...(change && { change }),
          })
          expected = { ...expected, ...then, head }
          assert.deepEqual(await store.tasks.load(task.id), expected)
        }
        await assertAppended(store, task.id, { expectedSeq: expected.head, records: [], change: { due: null } })
        const { due: _, ...cleared } = expected
        assert.deepEqual(await store.tasks.load(task.id), cleared)
      }),
    )

    it(
      'clears the due time when a task ends',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, { due: { kind: 'turn', at: day0 } })
        const status = taskStatusOf('TASK_STATE_CANCELED', day0 + 1)
        await assertAppended(store, task.id, { expectedSeq: 1, records: [], change: { status, statusAt: day0 + 1 } })
        assert.equal((await store.tasks.load(task.id))?.due, undefined)
        assert.deepEqual(await store.tasks.claimDue(day0 + 10, 10), [])
      }),
    )

    it(
      'changes only the row if there are no records',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        const answer = await assertAppended(store, task.id, { expectedSeq: 1, records: [], change: { consumedSeq: 1 } })
        assert.equal(answer.head, 1)
        assert.equal((await store.tasks.load(task.id))?.consumedSeq, 1)
        assert.equal((await store.tasks.read(task.id, 0)).length, 1)
      }),
    )

    it(
      'returns messages, statuses and metadata of any content',
      withStore(open, async ({ store }) => {
        const odd = 'nul \u0000, quote ", line \u2028, smile \u{1F600}, half \ud83d, back\\slash'
        const message = {
          messageId: odd,
          role: 'ROLE_USER',
          parts: [{ text: odd }, { data: { deep: [null, true, 1.5, { [odd]: odd }] } }, { data: null }, { text: '' }],
        } as const
        const status = { ...taskStatusOf('TASK_STATE_WORKING'), message }
        const metadata = { a: [1, { b: null }], long: 'x'.repeat(20_000) }
        const task = await createTask(
          store,
          { metadata, status },
          { records: [newRecord({ type: 'message', message })] },
        )
        const long = { ...status, message: { ...message, parts: [{ text: 'y'.repeat(20_000) }] } }
        assert.deepEqual(await store.tasks.load(task.id), { ...task, head: 1, consumedSeq: 0 })
        assert.deepEqual(await store.tasks.read(task.id, 0), [{ seq: 1, at: day0, body: { type: 'message', message } }])
        await assertAppended(store, task.id, { expectedSeq: 1, records: [], change: { status: long, statusAt: day0 } })
        assert.deepEqual((await store.tasks.load(task.id))?.status, long)
        assert.deepEqual((await store.tasks.load(task.id))?.metadata, metadata)
      }),
    )

    it(
      'treats names that look like SQL or are empty as plain names',
      withStore(open, async ({ store }) => {
        const name = `'); DROP TABLE tasks; --`
        const task = await createTask(store, { tenant: '', agent: name, owner: name, contextId: name })
        assert.equal((await store.tasks.load(task.id))?.owner, name)
        const page = await store.tasks.list({ tenant: '', agent: name, owner: name, contextId: name, limit: 5 })
        assert.equal(page.total, 1)
        assert.equal((await store.tasks.list({ ...alicePartition, limit: 5 })).total, 0)
      }),
    )
  })
}
