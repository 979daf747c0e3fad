import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from './error.ts'
import { singleFlight } from './signals.ts'

/** Work that ends on demand, and reports whether it was stopped. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const signals: AbortSignal[] = []
  return {
    resolve,
    reject,
    begun: () => signals.length,
    stopped: () => signals.at(-1)?.aborted,
    begin(this: void, signal: AbortSignal) {
      signals.push(signal)
      return promise
    },
  }
}

describe('singleFlight', () => {
  it('runs once for concurrent callers, and again for later ones', async () => {
    const { begin, begun, resolve } = work()
    const owner = {}
    const { signal } = new AbortController()
    const both = [singleFlight(owner, 'k', signal, begin), singleFlight(owner, 'k', signal, begin)]
    resolve('done')
    assert.deepEqual(await Promise.all(both), ['done', 'done'])
    assert.equal(begun(), 1)
    await singleFlight(owner, 'k', signal, begin)
    assert.equal(begun(), 2)
  })

  it('fails for all and is retried by the next', async () => {
    const { begin, begun, reject } = work()
    const owner = {}
    const { signal } = new AbortController()
    const both = [singleFlight(owner, 'k', signal, begin), singleFlight(owner, 'k', signal, begin)]
    reject(new Error('no'))
    for (const one of both) await assert.rejects(one, /no/)
    assert.equal(await singleFlight(owner, 'k', signal, async () => 'new'), 'new')
    assert.equal(begun(), 1)
  })

  it('is not stopped by one caller that leaves, and stops when the last is aborted', async () => {
    const { begin, stopped } = work()
    const owner = {}
    const [first, second] = [new AbortController(), new AbortController()]
    const one = singleFlight(owner, 'k', first.signal, begin)
    const two = singleFlight(owner, 'k', second.signal, begin)
    first.abort(new Error('first left'))
    await assert.rejects(one, /first left/)
    assert.equal(stopped(), false)
    second.abort(new Error('second left'))
    await assert.rejects(two, /second left/)
    assert.equal(stopped(), true)
    // A new caller must not get the failure of the stopped work.
    assert.equal(await singleFlight(owner, 'k', new AbortController().signal, async () => 'fresh'), 'fresh')
  })

  it('stops after the timeout of its last caller, or continues for the next one', async () => {
    for (const reason of [new A2AError('TIMEOUT', 'late'), new DOMException('late', 'TimeoutError')]) {
      const { begin, begun, stopped, resolve } = work()
      const owner = {}
      const impatient = new AbortController()
      const stopping = work()
      const once = singleFlight({}, 'k', impatient.signal, stopping.begin)
      const gone = singleFlight(owner, 'k', impatient.signal, begin, true)
      impatient.abort(reason)
      await assert.rejects(once, reason)
      assert.equal(stopping.stopped(), true)
      await assert.rejects(gone, reason)
      assert.equal(stopped(), false)
      const later = singleFlight(owner, 'k', new AbortController().signal, begin, true)
      resolve('done')
      assert.equal(await later, 'done')
      assert.equal(begun(), 1)
    }
  })

  it('starts nothing for an aborted caller, and leaves no timer behind', async () => {
    const { begin, begun } = work()
    await assert.rejects(singleFlight({}, 'k', AbortSignal.abort(new Error('before')), begin), /before/)
    assert.equal(begun(), 0)
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    await singleFlight({}, 'k', new AbortController().signal, async () => 'x')
    assert.equal(timers(), before)
  })
})
