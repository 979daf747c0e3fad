/** Two servers over one log store: the second takes the unfinished tasks of the first one over, which then leaves them alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { completeLogStore } from '../../stores/complete/complete-store.ts'
import { createMemoryLog } from '../../stores/memory/memory-log.ts'
import type { FullStore } from '../../stores/store.ts'
import { chunksOf, eventually, openTestEngine } from '../../testing/fixtures/test-engine.ts'

describe('a second server over the same log store', () => {
  it('continues a task; the first one stops it with one line, and its stream is UNAVAILABLE', async (t) => {
    const log = createMemoryLog({ maxTasks: Infinity, pruneBatch: 1 }).store
    const openStore = () => completeLogStore(log).store as FullStore
    const firstStore = openStore()
    let sweeps = 0
    const claimDue: typeof firstStore.tasks.claimDue = (...query) => {
      sweeps += 1
      return firstStore.tasks.claimDue(...query)
    }
    const [late, more] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const runs: string[] = []
    const agentOf = (server: string): Agent => ({
      resume: 'rerun',
      async *run({ checkpoint, resumed }: Turn) {
        runs.push(`${server} ${resumed === undefined ? 'begins' : 'resumes'}`)
        await checkpoint(1)
        yield `${server} `
        await (server === 'first' ? late.promise : more.promise)
        // Several appends, after which the row that the first server has read is outdated.
        for (const n of [2, 3, 4]) {
          await checkpoint(n)
          yield `${n} `
        }
        runs.push(`${server} wrote`)
        await new Promise(() => {})
      },
    })
    const first = await openTestEngine(t, agentOf('first'), {
      store: { ...firstStore, tasks: { ...firstStore.tasks, claimDue } },
    })
    const stream = await first.stream('go')
    const seen = await stream.through((item) => chunksOf([item])[0] === 'first ')
    const begun = seen[0]?.event
    assert.ok(begun !== undefined && 'task' in begun)
    const { id } = begun.task
    const second = await openTestEngine(t, agentOf('second'), { store: openStore() })
    await eventually(() => runs.includes('second resumes'))
    late.resolve()
    await assert.rejects(stream.rest(), { code: 'UNAVAILABLE' })
    more.resolve()
    await eventually(() => runs.includes('second wrote'))
    const before = sweeps
    await eventually(() => sweeps > before + 3)
    // It also accepts a message for the task, which the second server receives.
    await first.start({ taskId: id, parts: [{ text: 'more' }] })
    assert.equal((await second.log(id)).filter(({ body }) => body.type === 'message').length, 2)
    const lines = first.lines.filter(({ level }) => level === 'warn' || level === 'error')
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields]),
      [['stopped a task here: another process has taken it over, or its lease expired', { taskId: id }]],
    )
    assert.deepEqual(runs, ['first begins', 'second resumes', 'second wrote'])
  })
})
