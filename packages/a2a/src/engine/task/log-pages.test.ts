import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { LogRecord } from '../../model/record.ts'
import { openTestEngine } from '../../testing/fixtures/test-engine.ts'
import { emptyFold, type LogEvent } from './fold.ts'
import type { LoadedTask } from './loaded-task.ts'
import { createLogPages } from './log-pages.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const chunk = (seq: number, bytes: number): LogRecord => ({
  seq,
  at: seq,
  body: { type: 'artifact', artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(bytes) }] } },
})
const live = (id: string, owner = 'alice'): LoadedTask =>
  ({ id, partition: { owner }, fold: emptyFold(id, 'c', { state: 'TASK_STATE_WORKING' }) }) as unknown as LoadedTask

function createReads(records: readonly LogRecord[]) {
  const reads: { id: string; after: number; maxBytes: number | undefined; answer: () => void }[] = []
  return {
    reads,
    read: (id: string, after: number, _limit?: number, maxBytes?: number) =>
      new Promise<readonly LogRecord[]>((resolve) => {
        reads.push({ id, after, maxBytes, answer: () => resolve(records.filter(({ seq }) => seq > after)) })
      }),
  }
}

describe('pages of a log', () => {
  it('are read once for all readers at the same position, also concurrently', async () => {
    const { reads, read } = createReads([chunk(1, 10), { seq: 2, at: 2, body: { type: 'note', text: 'n' } }])
    const pages = createLogPages({ read })
    const task = live('t')
    const asked = Array.from({ length: 1_000 }, () => pages.after(task, 0))
    assert.equal(reads.length, 1)
    assert.ok((reads[0]?.maxBytes ?? Infinity) < 1_000_000)
    reads[0]?.answer()
    const answered = await Promise.all(asked)
    assert.equal(new Set(answered.map(({ events }) => events)).size, 1)
    assert.deepEqual([answered[0]?.events.length, answered[0]?.lastSeq], [1, 2])
    assert.equal((await pages.after(task, 0)).events, answered[0]?.events)
    assert.deepEqual([pages.read, pages.shared], [1, 1_000])
    void pages.after(task, 1)
    void pages.after(live('t'), 0)
    assert.equal(reads.length, 3, 'another place, or another life of the task, is another page')
  })

  it('are cached within a size limit, and not at all for a dropped log', async () => {
    const { reads, read } = createReads(Array.from({ length: 400 }, (_, index) => chunk(index + 1, 30_000)))
    const pages = createLogPages({ read })
    const ask = async (id: LoadedTask, after: number): Promise<number> => {
      const page = pages.after(id, after)
      reads.at(-1)?.answer()
      await page
      return reads.length
    }
    const tasks = [live('a'), live('b')] as const
    assert.equal(await ask(tasks[0], 0), 1)
    assert.equal(await ask(tasks[1], 0), 2)
    assert.equal(await ask(tasks[0], 0), 3, 'the first was given up for the second')
    assert.equal(await ask(tasks[0], 400), 4)
    assert.equal(await ask(tasks[0], 400), 5, 'nothing is no page')
  })

  it('with a large event are shared for as long as a reader holds them', async () => {
    const { reads, read } = createReads([chunk(1, 20_000_000)])
    const pages = createLogPages({ read })
    const task = live('t')
    const ask = async (): Promise<readonly LogEvent[]> => {
      const page = pages.after(task, 0)
      reads.at(-1)?.answer()
      return (await page).events
    }
    // Too large for the cache.
    let held: readonly LogEvent[] | undefined = await ask()
    await turn()
    const again = (await ask())[0]?.event === held[0]?.event
    assert.deepEqual([again, reads.length], [true, 1])
    held = undefined
    await turn()
    collect()
    await ask()
    assert.equal(reads.length, 2)
  })

  it('with a large event are remembered for few positions of a task', async () => {
    const { reads, read } = createReads(Array.from({ length: 33 }, (_, index) => chunk(index + 1, 1_000_000)))
    const pages = createLogPages({ read })
    const task = live('t')
    const held: (readonly LogEvent[])[] = []
    const ask = async (after: number): Promise<number> => {
      const page = pages.after(task, after)
      reads.at(-1)?.answer()
      held.push((await page).events)
      return reads.length
    }
    for (let after = 0; after < 33; after += 1) await ask(after)
    assert.deepEqual([await ask(16), reads.length], [33, 33], 'a page that is held is shared')
    assert.equal(await ask(0), 34, 'the oldest is not remembered')
  })

  it('are read a few at a time, and the owners of tasks take turns', async () => {
    const { reads, read } = createReads([chunk(1, 10)])
    const pages = createLogPages({ read })
    const asked = Array.from({ length: 20 }, (_, index) => pages.after(live(`t${index}`), 0))
    void pages.after(live('of bob', 'bob'), 0)
    assert.equal(reads.length, 16)
    for (let index = 0; index < 20; index += 1) {
      reads.find(({ id }) => id === `t${index}`)?.answer()
      await asked[index]
    }
    const last = reads.slice(16).map(({ id }) => id)
    assert.deepEqual(last, ['t16', 'of bob', 't17', 't18', 't19'])
  })
})

describe('the events of an ended task', () => {
  it('leave the memory with its last reader, and are read from the store by the next', async (t) => {
    const testEngine = await openTestEngine(t, async function* () {
      yield { state: 'TASK_STATE_WORKING' }
      yield 'one '
      yield 'two'
    })
    const [opening, ...events] = await (await testEngine.stream('go')).rest()
    assert.ok(opening !== undefined && 'task' in opening.event)
    const { logPageCounts } = testEngine.engine
    const { read } = logPageCounts
    const again = await testEngine.subscribe(opening.event.task.id, { lastEventId: opening.seq ?? 0 })
    const withoutBytes = (items: typeof events) => items.map(({ seq, event, final }) => ({ seq, event, final }))
    assert.deepEqual(withoutBytes([...(await again.rest())]), withoutBytes(events))
    assert.equal(logPageCounts.read, read + 1)
  })
})
