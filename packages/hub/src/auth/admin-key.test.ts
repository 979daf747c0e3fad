import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { openAdminKey } from './admin-key.ts'
import { adminKeyMark } from './console-session.ts'
import { clientProof, generateKey, hubProof, sha256Hex } from './key-format.ts'

describe('the admin key', () => {
  it('is created once, shown once, and stored as a hash', async () => {
    const kv = memoryKeyValueStore()
    const first = await openAdminKey({ kv })
    assert.match(first.created ?? '', /^pka_/)
    const again = await openAdminKey({ kv })
    assert.equal(again.created, undefined)
    for (const opened of [first, again]) {
      assert.ok(await opened.matches(first.created as string))
      for (const wrong of ['', 'x', generateKey('pka').key, `${first.created} `])
        assert.ok(!(await opened.matches(wrong)))
    }
    const kept = JSON.stringify(await kv.list('admin', { limit: 10 }))
    assert.ok(!kept.includes((first.created as string).slice(17)))
  })

  it('is proved only to a client that knows it, and for one connection', async () => {
    const key = 'correct horse battery'
    const opened = await openAdminKey({
      kv: memoryKeyValueStore(),
      settings: { key, previousKeys: ['the one before it'] },
    })
    const [nonce, connection] = ['n'.repeat(22), '127.0.0.1:50000 127.0.0.1:3000']
    const hash = sha256Hex(key)
    const proof = clientProof(hash, nonce)
    assert.equal(await opened.prove(proof, nonce, connection), hubProof(hash, nonce, connection))
    assert.notEqual(
      await opened.prove(proof, nonce, '127.0.0.1:50001 127.0.0.1:3000'),
      hubProof(hash, nonce, connection),
    )
    const before = sha256Hex('the one before it')
    assert.equal(await opened.prove(clientProof(before, nonce), nonce, connection), hubProof(before, nonce, connection))
    for (const wrong of ['', hubProof(hash, nonce, connection), clientProof(sha256Hex('x'), nonce)])
      assert.equal(await opened.prove(wrong, nonce, connection), undefined)
    assert.equal(await opened.prove(proof, 'm'.repeat(22), connection), undefined)
  })

  it('is made by one of several that start at once', async () => {
    const kv = memoryKeyValueStore()
    const opened = await Promise.all([1, 2, 3].map(() => openAdminKey({ kv })))
    const made = opened.flatMap(({ created: key }) => key ?? [])
    assert.equal(made.length, 1)
    for (const { matches } of opened) assert.ok(await matches(made[0] as string))
  })

  it('that is given counts instead of the one that was made', async () => {
    const kv = memoryKeyValueStore()
    const { created = '' } = await openAdminKey({ kv })
    const given = await openAdminKey({ kv, settings: { key: 'correct horse battery' } })
    assert.deepEqual(
      [await given.matches('correct horse battery'), await given.matches(created), given.created],
      [true, false, undefined],
    )
    await assert.rejects(openAdminKey({ kv, settings: { key: 'short' } }), /admin\.key.*shorter than 16/)
  })

  it('is rotated with an overlap, in which both keys are valid on all replicas', async () => {
    let at = 1_800_000_000_000
    const kv = memoryKeyValueStore(() => at)
    const ended: string[] = []
    const clock = { now: () => at, monotonicNow: () => at }
    const one = await openAdminKey({ kv, ...clock, onEnded: () => void ended.push('one') })
    const other = await openAdminKey({ kv, ...clock, onEnded: () => void ended.push('other') })
    const old = one.created ?? ''
    const oldMark = adminKeyMark(sha256Hex(old))
    const { key = '', previousEndsAt } = (await one.rotate(60_000)) ?? {}
    assert.equal(previousEndsAt, at + 60_000)
    for (const replica of [one, other]) {
      assert.deepEqual([await replica.matches(key), await replica.matches(old)], [true, true])
      assert.ok(await replica.isMark(oldMark))
    }
    at += 60_000
    for (const replica of [one, other]) {
      await replica.check()
      assert.deepEqual([await replica.matches(key), await replica.matches(old)], [true, false])
      assert.ok(!(await replica.isMark(oldMark)))
    }
    assert.deepEqual(ended, ['one', 'other'])
  })

  it('that leaked ends at once with an overlap of 0, also where it was rotated before', async () => {
    let at = 1_800_000_000_000
    const kv = memoryKeyValueStore(() => at)
    const clock = { now: () => at, monotonicNow: () => at }
    const one = await openAdminKey({ kv, ...clock })
    const other = await openAdminKey({ kv, ...clock })
    const second = (await one.rotate(86_400_000))?.key ?? ''
    const third = (await one.rotate(0))?.key ?? ''
    at += 2_001
    for (const replica of [one, other]) {
      const found = await Promise.all([one.created ?? '', second, third].map(replica.matches))
      assert.deepEqual(found, [false, false, true])
    }
  })

  it('that is configured is not rotated here, and changes with the configuration beside its previous keys', async () => {
    const kv = memoryKeyValueStore()
    let ended = 0
    const given = await openAdminKey({ kv, settings: { key: 'the first key of ours' }, onEnded: () => void ended++ })
    assert.equal(await given.rotate(0), undefined)
    given.configure({ key: 'the second key of ours', previousKeys: ['the first key of ours'] })
    assert.deepEqual(await Promise.all(['the first key of ours', 'the second key of ours'].map(given.matches)), [
      true,
      true,
    ])
    assert.equal(ended, 0)
    given.configure({ key: 'the second key of ours' })
    assert.deepEqual(await given.matches('the first key of ours'), false)
    assert.equal(ended, 1)
    given.configure({})
    assert.ok(await given.matches('the second key of ours'))
  })

  it('is checked with what is known while the store does not answer', async () => {
    let at = 0
    const kv = memoryKeyValueStore()
    let isDown = false
    const failing = {
      ...kv,
      read: async (...args: Parameters<typeof kv.read>) => {
        if (isDown) throw new Error('down')
        return kv.read(...args)
      },
    }
    const opened = await openAdminKey({ kv: failing, monotonicNow: () => at })
    isDown = true
    at = 1_000_000
    assert.ok(await opened.matches(opened.created ?? ''))
    assert.ok(!(await opened.matches('another key')))
  })

  it('refuses previous keys that are as short as a guess', async () => {
    const settings = { key: 'the second key of ours', previousKeys: [''] }
    await assert.rejects(openAdminKey({ kv: memoryKeyValueStore(), settings }), /shorter than 16 characters/)
  })
})
