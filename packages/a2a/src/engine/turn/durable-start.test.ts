/** `openAfterMs: 0`: an agent is called once the start of its turn is durable, and not before. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { reply } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { artifactText, historyOf, openTestEngine, short } from '../../testing/fixtures/test-engine.ts'
import type { FullStore, TaskStore } from '../../stores/store.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'

const options = { openAfterMs: 0 } as const

/** Appends wait for `release`; `asked` resolves with the first. A killed store loses what it has not written. */
function heldStore(store: FullStore) {
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isKilled = false
  const append: TaskStore['append'] = async (...given) => {
    asked.resolve()
    await gate.promise
    if (isKilled) throw new Error('killed')
    return store.tasks.append(...given)
  }
  return {
    store: { ...store, tasks: { ...store.tasks, append } },
    asked: asked.promise,
    release: gate.resolve,
    kill() {
      isKilled = true
      gate.resolve()
    },
  }
}

/** Resolves when everything that needs only a few turns of the event loop has run. */
async function settled(): Promise<void> {
  for (let lap = 0; lap < 20; lap += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('an agent whose tasks open at once', () => {
  for (const returnImmediately of [false, true]) {
    it(`is not called before the message is durable${returnImmediately ? ', nor for a non-blocking caller' : ''}`, async (t) => {
      const held = heldStore(memoryStore())
      const called: string[] = []
      const agent: Agent = async ({ text }) => {
        called.push(text)
        return `did ${text}`
      }
      const testEngine = await openTestEngine(t, agent, { store: held.store, options })
      const sent = testEngine.task('go', { returnImmediately })
      await held.asked
      await settled()
      assert.deepEqual(called, [])
      held.release()
      const { id } = await sent
      assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), 'did go')
      assert.deepEqual(called, ['go'])
    })
  }

  it('has not run if the process was killed before, and a repeated message runs it once', async (t) => {
    const kept = memoryStore()
    let runs = 0
    const agent: Agent = async () => `run ${(runs += 1)}`
    const dying = heldStore(kept)
    const killed = await openTestEngine(t, agent, { store: dying.store, options })
    const said = { messageId: '7f4d4cde-5f0a-4f0e-9d3e-1f0c5a4b3c2d', parts: [{ text: 'go' }] }
    const lost = killed.send(said)
    const refused = assert.rejects(lost)
    await dying.asked
    await settled()
    dying.kill()
    await refused
    assert.equal(runs, 0)
    const again = await openTestEngine(t, agent, { store: kept, options })
    const task = await again.task(said)
    assert.equal(artifactText(task), 'run 1')
    assert.deepEqual(await again.task(said), task)
    assert.equal(runs, 1)
  })

  it('is not called for a repeated message', async (t) => {
    const kept = memoryStore({ leaseTtlMs: 10_000 })
    let runs = 0
    const agent: Agent = async () => `run ${(runs += 1)}`
    const said = { messageId: '7f4d4cde-5f0a-4f0e-9d3e-1f0c5a4b3c2d', parts: [{ text: 'go' }] }
    const slow = heldStore(kept)
    const here = await openTestEngine(t, agent, { store: slow.store, options })
    const there = await openTestEngine(t, agent, { store: kept, options })
    const sent = here.task(said)
    await slow.asked
    const first = await there.task(said)
    slow.release()
    assert.equal((await sent).id, first.id)
    await settled()
    assert.equal(runs, 1)
  })

  it('is not called for its next message before that turn is in the log', async (t) => {
    const kept = memoryStore()
    const gate = Promise.withResolvers<void>()
    const starting = Promise.withResolvers<void>()
    const called: string[] = []
    const append: TaskStore['append'] = async (taskId, given) => {
      const isStart = given.records.some(({ body }) => body.type === 'turn-started' && body.turn === 2)
      if (isStart) starting.resolve()
      if (isStart) await gate.promise
      return kept.tasks.append(taskId, given)
    }
    const agent: Agent = async function* ({ text }) {
      called.push(text)
      yield text === 'go' ? { state: 'TASK_STATE_INPUT_REQUIRED' } : `did ${text}`
    }
    const engine = await openTestEngine(t, agent, { store: { ...kept, tasks: { ...kept.tasks, append } }, options })
    const { id } = await engine.task('go')
    const sent = engine.task({ taskId: id, parts: [{ text: 'more' }] })
    await starting.promise
    await settled()
    assert.deepEqual(called, ['go'])
    gate.resolve()
    assert.equal(artifactText(await sent, 'answer-2'), 'did more')
  })

  it('returns a task also for a direct reply', async (t) => {
    const testEngine = await openTestEngine(t, () => reply('hello'), { options })
    const { task } = (await testEngine.send('hi')) as { task: Parameters<typeof historyOf>[0] }
    assert.equal(short(task.status.state), 'COMPLETED')
    assert.deepEqual(historyOf(task).slice(0, 1), ['hi'])
  })
})

describe('a turn that runs again after a crash', () => {
  it('is counted in the log before its agent is called, whatever openAfterMs is', async (t) => {
    const life = crashingStores['an SQLite file that is opened again']!(t)
    const called: number[] = []
    const agent: Agent = {
      resume: 'rerun',
      async run({ resumed }) {
        called.push(resumed?.attempt ?? 1)
        if (resumed === undefined) await new Promise(() => {})
        return 'done'
      },
    }
    const first = await openTestEngine(t, agent, life)
    const { id } = await first.start('go')
    const next = await life.crash()
    const held = heldStore(next.store)
    const second = await openTestEngine(t, agent, { ...next, store: held.store })
    await held.asked
    await settled()
    assert.deepEqual(called, [1])
    held.release()
    await second.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(called, [1, 2])
  })
})
