/** One message, one task: a message claim is made with the append and ends with its time or its task (B-163). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OpenStore } from './harness.ts'
import { assertAppended, chunks, createTask, createFinished, newTaskFields, withStore, recordTexts } from './harness.ts'

export function idempotencyContract(open: OpenStore): void {
  const claim = (key = 'message-1', hash = 'hash-1', ttlMs = 1_000) => ({ key, hash, ttlMs })

  describe('claiming a message', () => {
    it(
      'returns the first task for a repeated message [B-163]',
      withStore(open, async ({ store, now }) => {
        const first = await createTask(store, {}, { idempotency: claim() })
        const second = newTaskFields()
        const answer = await store.tasks.append(second.id, {
          expectedSeq: 0,
          create: second,
          records: chunks('x'),
          idempotency: claim('message-1', 'hash-2'),
        })
        assert.deepEqual(answer, { outcome: 'duplicate', taskId: first.id, hash: 'hash-1' })
        assert.equal(await store.tasks.load(second.id), undefined)
        assert.deepEqual(await store.tasks.read(second.id, 0), [])
        assert.deepEqual(await store.tasks.findMessage('message-1', now()), { taskId: first.id, hash: 'hash-1' })
      }),
    )

    it(
      'applies to messages to an existing task, and before a conflict',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        const idempotency = claim()
        await assertAppended(store, task.id, { expectedSeq: 1, records: chunks('a'), idempotency })
        for (const expectedSeq of [1, 2]) {
          const again = await store.tasks.append(task.id, { expectedSeq, records: chunks('a'), idempotency })
          assert.deepEqual(again, { outcome: 'duplicate', taskId: task.id, hash: 'hash-1' })
        }
        assert.deepEqual(recordTexts(await store.tasks.read(task.id, 1)), ['a'])
      }),
    )

    it(
      'lets one of many concurrent senders of a message win',
      withStore(open, async ({ store }) => {
        const tasks = Array.from({ length: 8 }, () => newTaskFields())
        const answers = await Promise.all(
          tasks.map((task) =>
            store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a'), idempotency: claim() }),
          ),
        )
        const winner = tasks[answers.findIndex(({ outcome }) => outcome === 'appended')]
        const refused = answers.filter((answer) => answer.outcome === 'duplicate' && answer.taskId === winner?.id)
        assert.equal(refused.length, 7)
        const stored = await Promise.all(tasks.map((task) => store.tasks.load(task.id)))
        assert.equal(stored.filter((row) => row !== undefined).length, 1)
      }),
    )

    it(
      'keeps the claims of different keys apart, however similar and however long they are [B-163]',
      withStore(open, async ({ store, now }) => {
        // As the engine makes them: the same message id with other content is another message.
        const keys = ['a', 'b'].flatMap((content) => [
          JSON.stringify(['caller', '', 'agent', 'message-1', content.repeat(64)]),
          JSON.stringify(['caller', '', 'agent', 'message-1'.repeat(200), content.repeat(64)]),
        ])
        const tasks = keys.map((key) => ({ key, task: newTaskFields() }))
        const answers = await Promise.all(
          tasks.map(({ key, task }) =>
            store.tasks.append(task.id, {
              expectedSeq: 0,
              create: task,
              records: chunks('a'),
              idempotency: claim(key, 'hash-1'),
            }),
          ),
        )
        assert.deepEqual(
          answers.map(({ outcome }) => outcome),
          keys.map(() => 'appended'),
        )
        for (const { key, task } of tasks) {
          assert.deepEqual(await store.tasks.findMessage(key, now()), { taskId: task.id, hash: 'hash-1' })
        }
      }),
    )

    it(
      'claims nothing with a refused append',
      withStore(open, async ({ store, now }) => {
        const task = await createTask(store)
        const conflict = await store.tasks.append(task.id, { expectedSeq: 9, records: [], idempotency: claim() })
        assert.equal(conflict.outcome, 'conflict')
        const made = await store.tasks.append(task.id, {
          expectedSeq: 0,
          create: task,
          records: [],
          idempotency: claim(),
        })
        assert.equal(made.outcome, 'conflict')
        assert.equal(await store.tasks.findMessage('message-1', now()), undefined)
        await assertAppended(store, task.id, { expectedSeq: 1, records: chunks('a'), idempotency: claim() })
      }),
    )

    it(
      'frees a message when its claim has expired',
      withStore(open, async ({ store, now, pass }) => {
        const first = await createTask(store, {}, { idempotency: claim('message-1', 'hash-1', 30) })
        assert.equal(await store.tasks.findMessage('message-1', now() + 30), undefined)
        await pass(30)
        const second = await createTask(store, {}, { idempotency: claim('message-1', 'hash-2') })
        assert.notEqual(first.id, second.id)
        assert.deepEqual(await store.tasks.findMessage('message-1', now()), { taskId: second.id, hash: 'hash-2' })
      }),
    )

    it(
      'frees a message when its task was removed',
      withStore(
        open,
        async ({ store, now }) => {
          const task = await createFinished(store)
          await assertAppended(store, task.id, { expectedSeq: 1, records: [], idempotency: claim() })
          assert.equal(await store.prune({ finishedBefore: task.statusAt + 1, batch: 10 }), 1)
          assert.equal(await store.tasks.findMessage('message-1', now()), undefined)
          await createTask(store, {}, { idempotency: claim() })
        },
        'retention',
      ),
    )

    it(
      'drops expired claims when it prunes, and nothing else',
      withStore(open, async ({ store, now, pass }) => {
        const task = await createTask(store, {}, { idempotency: claim('short', 'h', 30) })
        await assertAppended(store, task.id, {
          expectedSeq: 1,
          records: [],
          idempotency: claim('long', 'h', 60_000),
        })
        await pass(30)
        assert.equal(await store.prune({ batch: 10 }), 0)
        assert.equal(await store.tasks.findMessage('short', now()), undefined)
        assert.deepEqual(await store.tasks.findMessage('long', now()), { taskId: task.id, hash: 'h' })
      }),
    )

    it(
      'does not recognize a message that was never claimed',
      withStore(open, async ({ store, now }) => {
        assert.equal(await store.tasks.findMessage('never', now()), undefined)
      }),
    )
  })
}
