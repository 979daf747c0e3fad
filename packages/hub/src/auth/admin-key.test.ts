import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a'
import { openAdminKey } from './admin-key.ts'
import { generateKey } from './key-format.ts'

describe('the admin key', () => {
  it('is created once, shown once, and stored as a hash', async () => {
    const kv = memoryKeyValueStore()
    const first = await openAdminKey(kv)
    assert.match(first.created ?? '', /^pka_/)
    const again = await openAdminKey(kv)
    assert.equal(again.created, undefined)
    for (const opened of [first, again]) {
      assert.ok(opened.matches(first.created as string))
      for (const wrong of ['', 'x', generateKey('pka').key, `${first.created} `]) assert.ok(!opened.matches(wrong))
    }
    const kept = JSON.stringify(await kv.list('admin', { limit: 10 }))
    assert.ok(!kept.includes((first.created as string).slice(17)))
  })

  it('is made by one of several that start at once', async () => {
    const kv = memoryKeyValueStore()
    const opened = await Promise.all([1, 2, 3].map(() => openAdminKey(kv)))
    const made = opened.flatMap(({ created: key }) => key ?? [])
    assert.equal(made.length, 1)
    assert.ok(opened.every(({ matches }) => matches(made[0] as string)))
  })

  it('that is given counts instead of the one that was made', async () => {
    const kv = memoryKeyValueStore()
    const { created = '' } = await openAdminKey(kv)
    const given = await openAdminKey(kv, 'correct horse battery')
    assert.deepEqual(
      [given.matches('correct horse battery'), given.matches(created), given.created],
      [true, false, undefined],
    )
    await assert.rejects(openAdminKey(kv, 'short'), /admin\.key.*shorter than 16/)
  })
})
