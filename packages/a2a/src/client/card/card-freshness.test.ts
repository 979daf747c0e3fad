import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../../model/card.ts'
import { createCachedCard } from './read-card.ts'

const now = Date.parse('2026-01-01T12:00:00Z')
const card = { name: 'Ada' } as AgentCard
const at = (seconds: number) => new Date(now + seconds * 1_000).toUTCString()
const kept = (headers: Record<string, string>, over: { sentAt?: number; type?: string } = {}) => {
  const response = new Response(null, { headers })
  if (over.type !== undefined) Object.defineProperty(response, 'type', { value: over.type })
  return createCachedCard(card, response, over.sentAt ?? now, now)
}
/** In seconds from now; `undefined`: not cached at all. */
const lifetime = (headers: Record<string, string>, over = {}): number | undefined => {
  const entry = kept(headers, over)
  return entry && (entry.freshUntil - now) / 1_000
}

describe('the lifetime of a card', () => {
  it('is its max-age, not s-maxage, and not Expires beside it [B-22]', () => {
    assert.equal(lifetime({ 'cache-control': 'max-age=60' }), 60)
    assert.equal(lifetime({ 'cache-control': 'public,  MAX-AGE = "60" , s-maxage=5' }), 60)
    assert.equal(lifetime({ 'cache-control': 's-maxage=5' }), 300)
    assert.equal(lifetime({ 'cache-control': 'private, max-age=60', expires: at(5) }), 60)
    assert.equal(lifetime({ 'cache-control': 'must-revalidate, max-age=60' }), 60)
  })

  it('is reduced by its age', () => {
    assert.equal(lifetime({ 'cache-control': 'max-age=60', age: '20' }), 40)
    assert.equal(lifetime({ 'cache-control': 'max-age=60', date: at(-30), age: '20' }), 30)
    assert.equal(lifetime({ 'cache-control': 'max-age=60', age: '20' }, { sentAt: now - 5_000 }), 35)
    assert.equal(lifetime({ 'cache-control': 'max-age=60', date: at(30) }), 60)
    assert.equal(lifetime({ 'cache-control': 'max-age=60', age: '90', etag: '"1"' }), -30)
    assert.equal(lifetime({ 'cache-control': 'max-age=60', age: 'soon', date: 'today' }), 60)
  })

  it('is given by Expires without max-age', () => {
    assert.equal(lifetime({ expires: at(90), date: at(0) }), 90)
    assert.equal(lifetime({ expires: at(90) }), 90)
    assert.equal(lifetime({ expires: at(90), date: at(-10) }), 90)
    assert.equal(lifetime({ expires: '0' }), undefined)
  })

  it('is five minutes by default, whatever the clock of the peer [S0-8 B-22]', () => {
    assert.equal(lifetime({}), 300)
    assert.equal(lifetime({ date: at(-3_600), age: '10' }), 300)
    assert.equal(lifetime({ 'cache-control': 'public' }), 300)
  })

  it('is zero if it must be revalidated each time', () => {
    for (const headers of [
      { 'cache-control': 'no-cache' },
      { 'cache-control': 'max-age=60, no-cache="set-cookie, x"' },
      { 'cache-control': 'max-age=0' },
      { 'cache-control': 'max-age=-5' },
      { 'cache-control': 'max-age=soon' },
      { 'cache-control': 'max-age' },
      { vary: '*' },
    ]) {
      assert.equal(lifetime(headers), undefined, JSON.stringify(headers))
      assert.ok((lifetime({ ...headers, etag: '"1"' }) ?? 1) <= 0, JSON.stringify(headers))
    }
    assert.equal(lifetime({ 'cache-control': 'x-no-cache, no-cached, max-age=60' }), 60)
    assert.equal(lifetime({ 'cache-control': 'no-store', etag: '"1"' }), undefined)
  })

  it('is followed by an hour in which it can be revalidated, if it has a validator [S0-22]', () => {
    assert.equal(kept({ etag: 'W/"1"' })?.keptUntil, now + 300_000 + 3_600_000)
    assert.equal(kept({ 'last-modified': at(-5) })?.keptUntil, now + 300_000 + 3_600_000)
    assert.equal(kept({})?.keptUntil, now + 300_000)
  })

  it("leaves revalidation to the browser's cache for a card of another origin", () => {
    const entry = kept({ etag: '"1"', 'last-modified': at(-5) }, { type: 'cors' })
    assert.deepEqual([...(entry?.storedHeaders ?? [])], [])
    assert.equal(entry?.keptUntil, now + 300_000)
  })

  it('restarts with a revalidation, by the headers of both responses', () => {
    const before = kept({ 'cache-control': 'max-age=60', etag: '"1"', age: '50' })
    const again = (headers: Record<string, string>) =>
      createCachedCard(card, new Response(null, { status: 304, headers }), now, now, before)
    assert.equal(again({})?.freshUntil, now + 60_000)
    assert.equal(again({ 'cache-control': 'max-age=5' })?.freshUntil, now + 5_000)
    assert.equal(again({ etag: '"2"' })?.storedHeaders.get('etag'), '"2"')
    assert.equal(again({ 'cache-control': 'no-store' }), undefined)
  })
})
