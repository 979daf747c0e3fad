import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryNotes } from '@parley/a2a'
import { openAdminKey } from './admin-key.ts'
import { newKey } from './key-format.ts'

describe('the admin key', () => {
  it('is made once, told once, and kept as a hash', async () => {
    const notes = memoryNotes()
    const first = await openAdminKey(notes)
    assert.match(first.made ?? '', /^pka_/)
    const again = await openAdminKey(notes)
    assert.equal(again.made, undefined)
    for (const opened of [first, again]) {
      assert.ok(opened.isGood(first.made as string))
      for (const wrong of ['', 'x', newKey('pka').key, `${first.made} `]) assert.ok(!opened.isGood(wrong))
    }
    const kept = JSON.stringify(await notes.list('admin', { limit: 10 }))
    assert.ok(!kept.includes((first.made as string).slice(17)))
  })

  it('is made by one of several that start at once', async () => {
    const notes = memoryNotes()
    const opened = await Promise.all([1, 2, 3].map(() => openAdminKey(notes)))
    const made = opened.flatMap(({ made: key }) => key ?? [])
    assert.equal(made.length, 1)
    assert.ok(opened.every(({ isGood }) => isGood(made[0] as string)))
  })

  it('that is given counts instead of the one that was made', async () => {
    const notes = memoryNotes()
    const { made = '' } = await openAdminKey(notes)
    const given = await openAdminKey(notes, 'correct horse battery')
    assert.deepEqual([given.isGood('correct horse battery'), given.isGood(made), given.made], [true, false, undefined])
    await assert.rejects(openAdminKey(notes, 'short'), /admin\.key.*shorter than 16/)
  })
})
