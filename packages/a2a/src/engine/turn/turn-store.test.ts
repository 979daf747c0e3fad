import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired } from '../../agents/reports.ts'
import type { Json } from '../../model/task.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'
import { aliceContext, eventually, openTestEngine, typesOf } from '../../testing/fixtures/test-engine.ts'
import { sessionKey } from './turn.ts'

describe('the store of a turn', () => {
  it('keeps values across turns, and forgets deleted ones', async (t) => {
    const seen: unknown[] = []
    const testEngine = await openTestEngine(t, async function* ({ text, store }: Turn) {
      if (text === 'write') {
        await Promise.all([store.set('a', { n: 1 }), store.set('b/1', 'x'), store.set('b/2', null)])
        await store.set('a', { n: 2 })
        await store.delete('b/1')
      }
      seen.push([await store.get('a'), await store.get('b/1'), await store.get('b/2'), await store.keys('b/')])
      yield inputRequired('And then?')
    })
    const { id } = await testEngine.task('write')
    await testEngine.task({ taskId: id, parts: [{ text: 'read' }] })
    const expected = [{ n: 2 }, undefined, null, ['b/2']]
    assert.deepEqual(seen, [expected, expected])
  })

  it('passes values on to the next task of the conversation, once the task has completed', async (t) => {
    const seen: (Json | undefined)[] = []
    const testEngine = await openTestEngine(t, async ({ text, store }: Turn) => {
      seen.push(await store.earlier('fact'))
      await store.set('fact', text)
      if (text === 'bad') throw new Error('failed after the write')
    })
    for (const [text, contextId, id] of [
      ['one', 'c1', 'alice'],
      ['bad', 'c1', 'alice'],
      ['two', 'c1', 'alice'],
      ['three', 'c1', 'bob'],
      ['four', 'c2', 'alice'],
    ] as const)
      await testEngine.task({ contextId, parts: [{ text }] }, { as: { caller: { id } } })
    assert.deepEqual(seen, [undefined, 'one', 'one', undefined, undefined])
  })

  it('is not changed by changes to what it returned', async (t) => {
    const seen: unknown[] = []
    const testEngine = await openTestEngine(t, async ({ store }: Turn) => {
      const earlier = await store.earlier('k')
      seen.push(structuredClone(earlier))
      if (earlier !== undefined) (earlier as { list: number[] }).list.push(3)
      seen.push(await store.earlier('k'))
      await store.set('k', { list: [1] })
      const got = (await store.get('k')) as { list: number[] }
      got.list.push(2)
      seen.push(await store.get('k'))
    })
    for (const text of ['one', 'two']) await testEngine.task({ contextId: 'c', parts: [{ text }] })
    const stored = { list: [1] }
    assert.deepEqual(seen, [undefined, undefined, stored, stored, stored, stored])
  })

  it('refuses keys that are not strings', async (t) => {
    const refused: string[] = []
    const testEngine = await openTestEngine(t, async ({ store }: Turn) => {
      for (const key of [1, null, undefined, {}] as unknown as string[])
        for (const attempt of [store.set(key, 1), store.get(key), store.delete(key), store.earlier(key)])
          await attempt.catch((reason: Error) => refused.push(reason.message))
      assert.deepEqual(await store.keys(), [])
    })
    const { status } = await testEngine.task('go')
    assert.equal(status.state, 'TASK_STATE_COMPLETED')
    assert.equal(refused.length, 16)
    assert.equal(refused[0], 'A key of turn.store is a string, not number')
  })

  it('bounds what a task writes in total, over all its turns', async (t) => {
    const written: number[] = []
    let refused = ''
    const testEngine = await openTestEngine(t, async function* ({ store }: Turn) {
      for (let count = 0; count < 30; count += 1) {
        try {
          await store.set('k', 'y'.repeat(1_900_000))
          written.push(count)
        } catch (reason) {
          refused = String(reason)
        }
      }
      yield inputRequired('And then?')
    })
    const { id } = await testEngine.task('go')
    assert.equal(refused, '')
    await testEngine.task({ taskId: id, parts: [{ text: 'again' }] })
    assert.match(refused, /^TurnStoreFullError: turn.store writes at most 100000000 bytes in a task/)
    assert.equal(written.length, 52)
  })

  it('refuses what is too large, and values that are not JSON', async (t) => {
    const refused: string[] = []
    const testEngine = await openTestEngine(t, async ({ store }: Turn) => {
      const attempt = (work: Promise<void>): Promise<unknown> =>
        work.catch((reason: Error) => refused.push(reason.name))
      await store.set('half', 'y'.repeat(1_200_000))
      await attempt(store.set('more', 'y'.repeat(1_200_000)))
      await attempt(store.set('k'.repeat(257), 1))
      await attempt(store.set('n', 1n))
      // Replacing an entry frees its size.
      await store.set('half', 'y'.repeat(1_900_000))
    })
    const task = await testEngine.task('go')
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(refused, ['TurnStoreFullError', 'RangeError', 'A2AError'])
    assert.equal(JSON.stringify(task).includes('yyyy'), false, 'clients do not see it')
  })
})

for (const [name, begin] of Object.entries(crashingStores)) {
  it(`the store of a turn survives a crash, over ${name}`, async (t) => {
    const seen: unknown[] = []
    const agent: Agent = {
      resume: 'rerun',
      async run({ store, resumed }) {
        if (resumed !== undefined) {
          seen.push(await store.get('step'))
          return
        }
        await store.set('step', 7)
        await new Promise(() => {})
      },
    }
    const life = begin(t)
    const first = await openTestEngine(t, agent, life)
    const { id } = await first.start('go')
    await eventually(async () => typesOf(await first.log(id)).includes('stored'))
    const second = await openTestEngine(t, agent, await life.crash())
    await second.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(seen, [7])
  })
}

it('a turn names its session by tenant, caller, agent and context', async (t) => {
  let key = ''
  const testEngine = await openTestEngine(t, (turn: Turn) => void (key = turn.sessionKey))
  const { contextId = '' } = await testEngine.task('go')
  const { tenant, caller, agent } = aliceContext
  assert.equal(key, sessionKey({ tenant, caller, task: { contextId } }, agent))
})
