import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { A2AError } from './error.ts'
import { linkSignals } from './signals.ts'

const listenersOf = (...signals: readonly AbortSignal[]): number[] =>
  signals.map((signal) => getEventListeners(signal, 'abort').length)

describe('a linked signal', () => {
  it('aborts with the reason of the source that aborts first, and removes its listeners from the others', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const linked = linkSignals([one.signal, undefined, two.signal], 60_000)
    assert.deepEqual(listenersOf(one.signal, two.signal), [1, 1])
    two.abort('enough')
    one.abort('too late')
    assert.equal(linked.signal.reason, 'enough')
    assert.deepEqual(listenersOf(one.signal, two.signal), [0, 0])
  })

  it('is aborted at once if a source already is', () => {
    const { signal } = new AbortController()
    assert.equal(linkSignals([signal, AbortSignal.abort('before')]).signal.reason, 'before')
    assert.deepEqual(listenersOf(signal), [0])
  })

  it('has no listeners left after its work has ended', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const source = new AbortController()
    const linked = linkSignals([source.signal], 100)
    linked.end()
    linked.end()
    assert.deepEqual(listenersOf(source.signal), [0])
    source.abort()
    t.mock.timers.tick(200)
    assert.equal(linked.signal.aborted, false)
  })

  it('aborts after the timeout, with TIMEOUT or with the given reason', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const source = new AbortController()
    const usual = linkSignals([source.signal], 100)
    const own = linkSignals([source.signal], 100, () => 'slow')
    t.mock.timers.tick(99)
    assert.equal(usual.signal.aborted, false)
    t.mock.timers.tick(1)
    assert.ok(usual.signal.reason instanceof A2AError && usual.signal.reason.code === 'TIMEOUT')
    assert.equal(own.signal.reason, 'slow')
    assert.deepEqual(listenersOf(source.signal), [0])
  })

  it('can be aborted itself, which aborts none of its sources', () => {
    const source = new AbortController()
    const linked = linkSignals([source.signal])
    linked.abort('own')
    assert.deepEqual([linked.signal.reason, source.signal.aborted], ['own', false])
    assert.deepEqual(listenersOf(source.signal), [0])
  })

  it('sets no timer for a time beyond the maximum of timers', () => {
    const linked = linkSignals([], 2 ** 40)
    assert.equal(linked.signal.aborted, false)
    linked.end()
  })
})
