import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { artifact } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openTestEngine, short } from '../../testing/fixtures/test-engine.ts'

/** The characters of an answer in so many chunks, as often as the store gets them: in the log, and in every snapshot. */
async function writtenFor(t: TestContext, chunks: number, size: number): Promise<number> {
  const store = memoryStore()
  let written = 0
  const { append, saveSnapshot } = store.tasks
  const weigh = (artifacts: readonly { readonly parts: readonly object[] }[]): void => {
    for (const { parts } of artifacts)
      for (const part of parts) written += 'text' in part ? String(part.text).length : 0
  }
  const tasks: typeof store.tasks = {
    ...store.tasks,
    append(taskId, batch) {
      weigh(batch.records.flatMap(({ body }) => (body.type === 'artifact' ? [body.artifact] : [])))
      return append.call(store.tasks, taskId, batch)
    },
    saveSnapshot(taskId, snapshot) {
      weigh(snapshot.task.artifacts ?? [])
      return saveSnapshot.call(store.tasks, taskId, snapshot)
    },
  }
  const text = 'x'.repeat(size)
  const testEngine = await openTestEngine(
    t,
    async function* () {
      for (let index = 0; index < chunks; index += 1) yield artifact('log', { text, append: index > 0 })
    },
    { store: { ...store, tasks } },
  )
  assert.equal(short((await testEngine.task('go')).status.state), 'COMPLETED')
  return written
}

describe('what a task writes', () => {
  it('grows linearly with its answer, in small chunks', async (t) => {
    const [one, four] = [await writtenFor(t, 500, 8), await writtenFor(t, 2_000, 8)]
    assert.ok(four / one < 4.4, `${one}, ${four} characters`)
  })

  it('is at most a few times its answer: a snapshot is due when the log has doubled', async (t) => {
    const written = await writtenFor(t, 5_000, 1_500)
    assert.ok(written < 4 * 5_000 * 1_500, `${written} characters`)
    assert.ok(written > 5_000 * 1_500, 'no snapshot')
  })

  it('is its answer only, in large chunks of more than 4 MB: the store would have to write and read a snapshot at once', async (t) => {
    assert.equal(await writtenFor(t, 100, 256_000), 100 * 256_000)
  })
})
