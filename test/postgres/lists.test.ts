/** What a page of ListTasks asks the database for: a few statements, whatever the number of tasks in the page and in the table. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { artifact, type Agent } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import type { PostgresQuery } from '../../packages/a2a/src/stores/postgres/driver.ts'
import type { PostgresPool } from '@parley/a2a/stores/postgres'
import { aliceContext, openTestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import { chunks, createTask, alicePartition } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
const pageSize = 50

describe('a page of tasks', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let schemas = 0

  /** A store, and the statements that it sends while `work` runs. */
  function openCounted(schema = `lists${(schemas += 1)}`) {
    let statements: PostgresQuery[] = []
    const pool: PostgresPool = {
      query: (query) => {
        statements.push(query)
        return database.pool.query(query as never)
      },
      end: async () => {},
      on: () => {},
    }
    const store = database.open({ pool, schema })
    return {
      store,
      async statementsOf(work: () => Promise<unknown>) {
        statements = []
        await work()
        return statements
      },
    }
  }

  async function engineOn(t: TestContext, store: FullStore, agent: Agent) {
    const testEngine = await openTestEngine(t, agent, { store, sweepMs: 600_000 })
    return { testEngine, list: () => testEngine.engine.listTasks({ pageSize, includeArtifacts: true }, aliceContext) }
  }

  it('takes two statements if no task is in memory, and shows what the tasks show in memory', async (t) => {
    const { store } = openCounted('cold')
    const agent: Agent = async function* ({ text }) {
      yield { state: 'TASK_STATE_WORKING' }
      for (const word of ['one ', 'two ', text]) {
        yield artifact('answer', { text: word, append: word !== 'one ' })
        // Some logs have several rows.
        if (text.endsWith('3')) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const writer = await engineOn(t, store, agent)
    await Promise.all(Array.from({ length: pageSize }, (_, n) => writer.testEngine.task(`task ${n}`)))
    const warm = await writer.list()
    assert.equal(warm.tasks.length, pageSize)

    const cold = openCounted('cold')
    const reader = await engineOn(t, cold.store, agent)
    let page = await reader.list()
    const statements = await cold.statementsOf(async () => (page = await reader.list()))
    assert.deepEqual(page, warm)
    assert.equal(statements.length, 2, statements.map(({ text }) => text).join('\n'))
  })

  it('reads large tasks one after the other, each once', async (t) => {
    const { store } = openCounted('large')
    const agent: Agent = () => artifact('answer', { text: 'x'.repeat(70_000) })
    const writer = await engineOn(t, store, agent)
    await Promise.all(Array.from({ length: 12 }, (_, n) => writer.testEngine.task(`task ${n}`)))

    const cold = openCounted('large')
    const reader = await engineOn(t, cold.store, agent)
    await cold.store.tasks.countStates()
    const statements = await cold.statementsOf(reader.list)
    // After the count and the page: its row, size, snapshot and log.
    const taskIds = statements.slice(2).map(({ values }) => String(values?.[0]))
    const inTurn = taskIds.filter((id, index) => id !== taskIds[index - 1])
    assert.equal(inTurn.length, 12)
    assert.equal(new Set(inTurn).size, 12)
    assert.ok(taskIds.length <= 5 * 12, `${taskIds.length} statements`)
  })

  it('counts the tasks since a time on the side that has fewer', async () => {
    const { store, statementsOf } = openCounted('counted')
    const [first] = await Promise.all(
      Array.from({ length: 3_000 }, (_, n) =>
        createTask(store, { statusAt: n + 1, state: n % 4 === 0 ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED' }),
      ),
    )
    assert.ok(first !== undefined)
    const totalSince = async (statusAtOrAfter: number, state?: 'TASK_STATE_FAILED') => {
      const query = { ...alicePartition, limit: 1, statusAtOrAfter, ...(state && { state }) }
      return (await store.tasks.list(query)).total
    }
    for (const at of [-5, 0, 1, 2, 500, 1_001, 1_500, 2_000, 2_001, 3_000, 3_001]) {
      const expected = Math.min(3_000, Math.max(0, 3_000 - at + 1))
      assert.equal(await totalSince(at), expected, String(at))
    }
    assert.equal(await totalSince(101, 'TASK_STATE_FAILED'), 725)
    const near = await statementsOf(() => totalSince(10))
    assert.equal(near.length, 2)
    assert.ok(near.every(({ text }) => text.includes('LIMIT')))
    await createTask(store, { statusAt: 10_000 }, { records: chunks('a') })
    assert.equal(await totalSince(10), 2_992)
  })
})
