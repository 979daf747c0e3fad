import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWatch } from './watch.ts'
import type { Happening, Watch } from './watch.ts'

const never = new AbortController().signal
const agent = (data: object, about: object = {}) => ({
  event: 'agent',
  payload: { runId: 'r', sessionKey: 's', stream: 'assistant', seq: 1, data, ...about },
})
const chat = (payload: object) => ({ event: 'chat', payload: { runId: 'r', sessionKey: 's', ...payload } })
const said = (text: string) => ({ message: { content: [{ type: 'text', text }] } })

async function taken(watch: Watch, count: number): Promise<readonly Happening[]> {
  const all: Happening[] = []
  for (let index = 0; index < count; index += 1) all.push(await watch.take())
  return all
}

describe('what happens to a run', () => {
  it('is told in order, and texts that nobody has taken give way to newer ones', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.event(agent({ itemId: '1', text: 'a' }))
    watch.listener.event(agent({ itemId: '1', text: 'ab' }))
    watch.listener.event(agent({ phase: 'start', name: 'exec', toolCallId: 'c' }, { stream: 'tool' }))
    watch.listener.event(agent({ itemId: '2', text: 'c' }))
    const [first, second, third] = await taken(watch, 3)
    assert.deepEqual(first, { text: 'ab' })
    assert.ok(second !== undefined && 'report' in second)
    assert.deepEqual(third, { text: 'ab\n\nc' })
  })

  it('is told of this run alone, whoever else works in the session', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.event(agent({ text: 'not ours' }, { runId: 'other' }))
    watch.listener.event(agent({ text: 'ours' }))
    assert.deepEqual(await watch.take(), { text: 'ours' })
  })

  it('does not warn of numbers that are left out where each event holds all before it [S4-17]', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.event(agent({ text: 'a' }, { seq: 3 }))
    watch.listener.event(agent({ text: 'abc' }, { seq: 18 }))
    assert.deepEqual(await watch.take(), { text: 'abc' })
  })

  it('warns of numbers that are left out where words may be missing, and goes on [S4-17]', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.event(agent({ delta: 'a' }, { seq: 1 }))
    await watch.take()
    watch.listener.event(agent({ delta: 'c' }, { seq: 4 }))
    watch.listener.event(agent({ delta: 'd' }, { seq: 5 }))
    assert.deepEqual(await watch.take(), { text: 'acd', warning: { warning: 'seq gap', expected: 2, received: 4 } })
  })

  it('warns when the connection lost events, and when the gateway says that it did [S4-17]', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.gap(5, 9)
    watch.listener.event(agent({ text: 'a' }))
    assert.deepEqual(await watch.take(), { text: 'a', warning: { warning: 'seq gap', expected: 5, received: 9 } })
    watch.listener.event(agent({ reason: 'seq gap', expected: 2, received: 3 }, { stream: 'error' }))
    watch.listener.event(agent({ text: 'ab' }))
    assert.deepEqual(await watch.take(), { text: 'ab', warning: { warning: 'seq gap', expected: 2, received: 3 } })
  })

  it('is read from chat events where the run was found under way', async () => {
    const watch = createWatch('r', 'names', never)
    watch.readFrom('chat')
    watch.listener.event(agent({ itemId: '2', text: 'only the last item' }))
    watch.listener.event(chat({ state: 'delta', ...said('first\n\nlast') }))
    assert.deepEqual(await watch.take(), { text: 'first\n\nlast' })
  })

  it('is followed to the run that took it up', async () => {
    const watch = createWatch('r', 'names', never)
    watch.readFrom('session')
    watch.listener.event(chat({ runId: 'new', state: 'delta', ...said('again') }))
    assert.deepEqual(await taken(watch, 2), [{ adopted: 'new' }, { text: 'again' }])
    assert.equal(watch.runId(), 'new')
  })

  it('tells an end without anything before it from that of a run that has begun', async () => {
    const queued = createWatch('r', 'names', never)
    queued.listener.event(chat({ state: 'final' }))
    assert.deepEqual(await queued.take(), { chatOutcome: { kind: 'done', text: '', media: [] }, isOfRun: false })
    const begun = createWatch('r', 'names', never)
    begun.listener.event(agent({ phase: 'start' }, { stream: 'lifecycle' }))
    begun.listener.event(chat({ state: 'final' }))
    assert.deepEqual(await begun.take(), { chatOutcome: { kind: 'done', text: '', media: [] }, isOfRun: true })
  })

  it('is kept within a bound, and never loses an end or a question', async () => {
    const watch = createWatch('r', 'names', never)
    watch.listener.event({ event: 'exec.approval.requested', payload: { id: 'a', request: { command: 'ls' } } })
    for (let index = 0; index < 3_000; index += 1) {
      watch.listener.event(agent({ phase: 'start', name: 'exec', toolCallId: `c${index}` }, { stream: 'tool' }))
    }
    watch.put({ outcome: { kind: 'late' } })
    const all = await taken(watch, 1_000)
    assert.ok('approval' in (all[0] as object))
    assert.deepEqual(all.at(-1), { outcome: { kind: 'late' } })
  })

  it('ends with the turn', async () => {
    const leaving = new AbortController()
    const taking = createWatch('r', 'names', leaving.signal).take()
    leaving.abort(new Error('gone'))
    await assert.rejects(taking, /gone/)
  })
})
