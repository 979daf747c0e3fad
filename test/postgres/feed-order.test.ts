/** The feed has the appends of a task in the order of its log, although a transaction that waits has its position already. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertAppended, chunks, createTask } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('appends of two replicas to one task', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('are in the feed in the order of the log, though the later one waited for another task', async () => {
    const [one, two] = [database.open(), database.open()]
    const created = [await createTask(one), await createTask(one)]
    const [held = '', shared = ''] = created.map(({ id }) => id).sort()
    await assertAppended(two, shared, { expectedSeq: 1, records: chunks('a'), take: { holder: 'two', ttlMs: 60_000 } })

    const other = database.client()
    await other.connect()
    await other.query('BEGIN')
    await other.query('SELECT FROM parley.tasks WHERE id = $1 FOR UPDATE', [held])
    // One flush, which has its position and waits for the first task.
    const waiting = [
      one.tasks.append(held, { expectedSeq: 1, records: chunks('b') }),
      one.tasks.append(shared, { expectedSeq: 2, records: chunks('d'), orLater: true }),
    ]
    await eventually(
      async () => (await database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0,
      'the flush that waits for the task',
    )
    await assertAppended(two, shared, { expectedSeq: 2, records: chunks('c') })
    await other.query('COMMIT')
    await other.end()
    for (const { outcome } of await Promise.all(waiting)) assert.equal(outcome, 'appended')

    const rows = await database.query<{ last_seq: string }>(
      'SELECT last_seq FROM parley.log WHERE task = (SELECT ref FROM parley.tasks WHERE id = $1) ORDER BY position',
      shared,
    )
    assert.deepEqual(
      rows.map(({ last_seq }) => Number(last_seq)),
      [1, 2, 3, 4],
    )
  })
})
