/**
 * Guards against: an answer in many chunks that costs the square of its length, because
 * the whole task is loaded, merged and written again with each chunk. Counted in bytes
 * that reach the store, which does not depend on the load of the machine.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { artifact, memoryStore } from '@parley/a2a'
import type { Store, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'

function weighed(store: Store): { store: Store; bytes(): number } {
  let bytes = 0
  return {
    bytes: () => bytes,
    store: {
      ...store,
      tasks: {
        ...store.tasks,
        append: (taskId, append) => {
          bytes += JSON.stringify(append).length
          return store.tasks.append(taskId, append)
        },
        saveSnapshot: (taskId, snapshot) => {
          bytes += JSON.stringify(snapshot).length
          return store.tasks.saveSnapshot(taskId, snapshot)
        },
      },
    },
  }
}

async function writtenFor(chunks: number, size: number): Promise<number> {
  const { store, bytes } = weighed(memoryStore())
  const text = 'x'.repeat(size)
  const agent = testAgent(
    async function* () {
      for (let index = 0; index < chunks; index += 1) yield artifact('log', { text, append: index > 0 })
    },
    { store },
  )
  const task = (await agent.send('go')) as Task
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
  await agent.close()
  return bytes()
}

describe('the bytes that a task writes', () => {
  it('grow linearly with its answer: 1,000, 4,000 and 16,000 small chunks', async () => {
    const [one, four, sixteen] = [await writtenFor(1_000, 8), await writtenFor(4_000, 8), await writtenFor(16_000, 8)]
    assert.ok(four / one < 4.4 && sixteen / four < 4.4, `${one}, ${four}, ${sixteen} bytes`)
  })

  it('are at most a few times its answer, however large the chunks are: 40 MB in 160 of them', async () => {
    const written = await writtenFor(160, 256 * 1024)
    assert.ok(written < 4 * 160 * 256 * 1024, `${written} bytes were written`)
  })
})
