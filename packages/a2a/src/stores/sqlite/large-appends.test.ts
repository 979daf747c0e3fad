/** Appends written in heavy steps: nothing waits forever, no acknowledged write is lost, the order holds. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { assertAppended, chunks, createTask, newTaskFields, recordTexts } from '../../testing/store-contract/harness.ts'
import { sqliteStore } from './index.ts'

const medium = Array.from({ length: 9 }, () => 'a'.repeat(100_000))
const large = (letter: string): string => letter.repeat(600_000)

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-large-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'tasks.db')
}

describe('a store that closes while large appends wait', () => {
  it('settles all of them, and has what it acknowledged', async (t) => {
    const file = fileFor(t)
    const store = sqliteStore(file)
    const tasks = Array.from({ length: 6 }, () => newTaskFields())
    // Large records are prepared in steps, and many of medium size at once: some wait to be prepared and some to be written.
    const waiting = tasks.map((task, index) =>
      store.tasks.append(task.id, {
        expectedSeq: 0,
        create: task,
        records: index % 2 === 0 ? chunks(...medium) : chunks(large('a'), large('b')),
      }),
    )
    const snapshot = store.tasks.saveSnapshot(tasks[0]?.id ?? '', {
      seq: 1,
      task: { id: 'x', status: tasks[0]?.status ?? { state: 'TASK_STATE_WORKING' } },
      internal: { bytes: 600_000 },
    })
    // Before the close, which rejects some of them.
    const settled = Promise.allSettled([...waiting, snapshot])
    // Those of medium size wait to be written now.
    await Promise.resolve()
    await store.close()
    const outcomes = await settled
    const appends = outcomes.slice(0, tasks.length)
    assert.ok(appends.some(({ status }) => status === 'fulfilled'))
    for (const outcome of appends) {
      if (outcome.status === 'rejected') assert.match(String(outcome.reason), /The store is closed/)
      else assert.equal((outcome.value as { outcome: string }).outcome, 'appended')
    }
    const again = sqliteStore(file)
    t.after(() => again.close())
    for (const [index, task] of tasks.entries()) {
      const isThere = (await again.tasks.load(task.id)) !== undefined
      assert.equal(isThere, appends[index]?.status === 'fulfilled', `task ${index}`)
    }
  })

  it('refuses later ones', async (t) => {
    const store = sqliteStore(fileFor(t))
    await store.close()
    await assert.rejects(createTask(store, {}, { records: chunks(large('a'), large('b')) }), /The store is closed/)
  })
})

describe('large appends of many tasks of one owner', () => {
  it('take turns with those of another owner', async (t) => {
    const store = sqliteStore(fileFor(t))
    t.after(() => store.close())
    const owners = [...Array.from({ length: 8 }, () => 'alice'), 'bob']
    const tasks = await Promise.all(owners.map((owner) => createTask(store, { owner }, { records: chunks('0') })))
    const order: string[] = []
    await Promise.all(
      tasks.map(async ({ id, owner }) => {
        await assertAppended(store, id, { expectedSeq: 1, owner, records: chunks(large('x')) })
        order.push(owner)
      }),
    )
    assert.notEqual(order.at(-1), 'bob', order.join())
  })
})

describe('large and small appends of one task, in turn', () => {
  it('are in the log in the order in which they were requested', async (t) => {
    const store = sqliteStore(fileFor(t))
    t.after(() => store.close())
    const { id } = await createTask(store, {}, { records: chunks('0') })
    for (let seq = 1; seq < 10; seq++) {
      const word = seq % 2 === 0 ? `${seq}` : `${seq}${large('x')}`
      await assertAppended(store, id, { expectedSeq: seq, records: chunks(word) })
    }
    const log = recordTexts(await store.tasks.read(id, 0))
    assert.deepEqual(
      log.map((word) => word[0]),
      Array.from({ length: 10 }, (_, seq) => `${seq}`),
    )
  })

  it('are refused by position if a small one overtakes a large one, and never both accepted', async (t) => {
    const store = sqliteStore(fileFor(t))
    t.after(() => store.close())
    const { id } = await createTask(store, {}, { records: chunks('first') })
    const both = await Promise.all([
      store.tasks.append(id, { expectedSeq: 1, records: chunks(large('x')) }),
      store.tasks.append(id, { expectedSeq: 1, records: chunks('small') }),
    ])
    assert.deepEqual(both.map(({ outcome }) => outcome).toSorted(), ['appended', 'conflict'])
    assert.equal(recordTexts(await store.tasks.read(id, 0)).length, 2)
  })

  it('wake the waiters of the task, also the large ones', async (t) => {
    const store = sqliteStore(fileFor(t))
    t.after(() => store.close())
    const { id } = await createTask(store, {}, { records: chunks('first') })
    const changed = store.tasks.changed(id, 1, new AbortController().signal)
    await assertAppended(store, id, { expectedSeq: 1, records: chunks(large('x')) })
    await changed
  })
})
