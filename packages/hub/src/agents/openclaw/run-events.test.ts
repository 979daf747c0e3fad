import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRunEventQueue, type RunEvent, type RunEventQueue } from './run-events.ts'

const never = new AbortController().signal
const agent = (data: object, about: object = {}) => ({
  event: 'agent',
  payload: { runId: 'r', sessionKey: 's', stream: 'assistant', seq: 1, data, ...about },
})
const chat = (payload: object) => ({ event: 'chat', payload: { runId: 'r', sessionKey: 's', ...payload } })
const said = (text: string) => ({ message: { content: [{ type: 'text', text }] } })

async function taken(watch: RunEventQueue, count: number): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = []
  for (let index = 0; index < count; index += 1) all.push(await watch.next())
  return all
}

describe('what happens to a run', () => {
  it('is queued in order, and newer texts replace unread ones', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onEvent(agent({ itemId: '1', text: 'a' }))
    watch.listener.onEvent(agent({ itemId: '1', text: 'ab' }))
    watch.listener.onEvent(agent({ phase: 'start', name: 'exec', toolCallId: 'c' }, { stream: 'tool' }))
    watch.listener.onEvent(agent({ itemId: '2', text: 'c' }))
    const [first, second, third] = await taken(watch, 3)
    assert.deepEqual(first, { text: 'ab' })
    assert.ok(second !== undefined && 'report' in second)
    assert.deepEqual(third, { text: 'ab\n\nc' })
  })

  it('contains only this run, even if others use the session', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onEvent(agent({ text: 'not ours' }, { runId: 'other' }))
    watch.listener.onEvent(agent({ text: 'ours' }))
    assert.deepEqual(await watch.next(), { text: 'ours' })
  })

  it('does not warn of numbers that are left out where each event holds all before it [S4-17]', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onEvent(agent({ text: 'a' }, { seq: 3 }))
    watch.listener.onEvent(agent({ text: 'abc' }, { seq: 18 }))
    assert.deepEqual(await watch.next(), { text: 'abc' })
  })

  it('warns of numbers that are left out where words may be missing, and continues [S4-17]', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onEvent(agent({ delta: 'a' }, { seq: 1 }))
    await watch.next()
    watch.listener.onEvent(agent({ delta: 'c' }, { seq: 4 }))
    watch.listener.onEvent(agent({ delta: 'd' }, { seq: 5 }))
    assert.deepEqual(await watch.next(), { text: 'acd', warning: { warning: 'seq gap', expected: 2, received: 4 } })
  })

  it('warns when the connection lost events, and when the gateway says that it did [S4-17]', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onGap(5, 9)
    watch.listener.onEvent(agent({ text: 'a' }))
    assert.deepEqual(await watch.next(), { text: 'a', warning: { warning: 'seq gap', expected: 5, received: 9 } })
    watch.listener.onEvent(agent({ reason: 'seq gap', expected: 2, received: 3 }, { stream: 'error' }))
    watch.listener.onEvent(agent({ text: 'ab' }))
    assert.deepEqual(await watch.next(), { text: 'ab', warning: { warning: 'seq gap', expected: 2, received: 3 } })
  })

  it('is read from chat events where the run was found under way', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.readFrom('chat')
    watch.listener.onEvent(agent({ itemId: '2', text: 'only the last item' }))
    watch.listener.onEvent(chat({ state: 'delta', ...said('first\n\nlast') }))
    assert.deepEqual(await watch.next(), { text: 'first\n\nlast' })
  })

  it('is followed to the run that took it up', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.readFrom('session')
    watch.listener.onEvent(chat({ runId: 'new', state: 'delta', ...said('again') }))
    assert.deepEqual(await taken(watch, 2), [{ adopted: 'new' }, { text: 'again' }])
    assert.equal(watch.runId(), 'new')
  })

  it('tells an end without anything before it from that of a run that has begun', async () => {
    const queued = createRunEventQueue('r', 'names', never)
    queued.listener.onEvent(chat({ state: 'final' }))
    assert.deepEqual(await queued.next(), { chatOutcome: { kind: 'done', text: '', media: [] }, isOfRun: false })
    const begun = createRunEventQueue('r', 'names', never)
    begun.listener.onEvent(agent({ phase: 'start' }, { stream: 'lifecycle' }))
    begun.listener.onEvent(chat({ state: 'final' }))
    assert.deepEqual(await begun.next(), { chatOutcome: { kind: 'done', text: '', media: [] }, isOfRun: true })
  })

  it('is kept within a bound, and never loses an end or a question', async () => {
    const watch = createRunEventQueue('r', 'names', never)
    watch.listener.onEvent({ event: 'exec.approval.requested', payload: { id: 'a', request: { command: 'ls' } } })
    for (let index = 0; index < 3_000; index += 1) {
      watch.listener.onEvent(agent({ phase: 'start', name: 'exec', toolCallId: `c${index}` }, { stream: 'tool' }))
    }
    watch.push({ outcome: { kind: 'late' } })
    const all = await taken(watch, 1_000)
    assert.ok('approval' in (all[0] as object))
    assert.deepEqual(all.at(-1), { outcome: { kind: 'late' } })
  })

  it('ends with the turn', async () => {
    const leaving = new AbortController()
    const taking = createRunEventQueue('r', 'names', leaving.signal).next()
    leaving.abort(new Error('gone'))
    await assert.rejects(taking, /gone/)
  })
})
