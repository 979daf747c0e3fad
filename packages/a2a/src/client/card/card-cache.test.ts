import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../../model/card.ts'
import { cardCacheOf, clearCardCache, createCardCache, type CachedCard } from './card-cache.ts'

const entry = (name: string, keptUntil = Infinity): CachedCard => ({
  card: { name } as AgentCard,
  freshUntil: keptUntil,
  keptUntil,
  storedHeaders: new Map(),
})
const never = new AbortController().signal

describe('the cache of cards', () => {
  it('drops expired cards, and the oldest if there are too many [S0-22]', () => {
    const cache = createCardCache()
    cache.set('old', entry('old', 10))
    cache.set('new', entry('new', 20))
    cache.prune(10)
    assert.equal(cache.get('old'), undefined)
    assert.equal(cache.get('new')?.card.name, 'new')
    for (let index = 0; index < 200; index++) cache.set(`k${index}`, entry(`k${index}`))
    assert.equal(cache.get('new'), undefined)
    assert.equal(cache.get('k71'), undefined)
    assert.equal(cache.get('k72')?.card.name, 'k72')
    cache.set('k199', undefined)
    assert.equal(cache.get('k199'), undefined)
  })

  it('is separate for each fetch, until it is cleared [S0-10]', () => {
    const one = (): Promise<Response> => Promise.resolve(new Response())
    const two = (): Promise<Response> => Promise.resolve(new Response())
    const cache = cardCacheOf(one)
    assert.equal(cardCacheOf(one), cache)
    assert.notEqual(cardCacheOf(two), cache)
    clearCardCache()
    assert.notEqual(cardCacheOf(one), cache)
  })

  it('runs the same work once, and again after a failure', async () => {
    const cache = createCardCache()
    let count = 0
    const work = async (): Promise<number> => {
      await Promise.resolve()
      if (++count === 1) throw new Error('first')
      return count
    }
    const failed = [cache.singleFlight('k', never, work), cache.singleFlight('k', never, work)]
    for (const one of await Promise.allSettled(failed)) assert.equal(one.status, 'rejected')
    assert.deepEqual(
      await Promise.all([cache.singleFlight('k', never, work), cache.singleFlight('k', never, work)]),
      [2, 2],
    )
    assert.equal(await cache.singleFlight('k', never, work), 3)
  })

  it('stops work when its last caller has gone, and starts again for the next caller', async () => {
    const cache = createCardCache()
    const signals: AbortSignal[] = []
    const work = (signal: AbortSignal): Promise<string> => {
      signals.push(signal)
      return signals.length === 1 ? new Promise(() => {}) : Promise.resolve('done')
    }
    const [one, two] = [new AbortController(), new AbortController()]
    const waiting = [cache.singleFlight('k', one.signal, work), cache.singleFlight('k', two.signal, work)]
    one.abort(new Error('one left'))
    await assert.rejects(waiting[0] as Promise<string>, /one left/)
    assert.equal(signals[0]?.aborted, false)
    two.abort(new Error('two left'))
    await assert.rejects(waiting[1] as Promise<string>, /two left/)
    assert.equal(signals[0]?.aborted, true)
    assert.equal(await cache.singleFlight('k', never, work), 'done')
  })
})
