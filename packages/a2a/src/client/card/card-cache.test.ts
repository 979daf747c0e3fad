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

describe('the cache of cards', () => {
  it('drops expired cards, and the oldest if there are too many [S0-22]', () => {
    const cache = createCardCache()
    cache.set('old', entry('old', 10), 0)
    cache.set('new', entry('new', 20), 10)
    assert.equal(cache.get('old'), undefined)
    assert.equal(cache.get('new')?.card.name, 'new')
    for (let index = 0; index < 200; index++) cache.set(`k${index}`, entry(`k${index}`), 10)
    assert.equal(cache.get('new'), undefined)
    assert.equal(cache.get('k71'), undefined)
    assert.equal(cache.get('k72')?.card.name, 'k72')
    cache.set('k199', undefined, 10)
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
})
