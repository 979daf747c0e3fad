import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openKeyring } from './keyring.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'

const master = new Uint8Array(32).fill(7)

describe('a keyring', () => {
  for (const [name, key] of [
    ['with a master key', master],
    ['without a master key', undefined],
  ] as const) {
    it(`signs and verifies ${name}, also after reopening`, async () => {
      const store = memoryStore()
      const ring = await openKeyring(store.keys, key)
      const signature = await ring.sign('page-token', 'some text')
      assert.equal(await ring.verify('page-token', 'some text', signature), true)
      const again = await openKeyring(store.keys, key)
      assert.equal(await again.verify('page-token', 'some text', signature), true)
      assert.equal(await again.sign('page-token', 'some text'), signature)
      assert.equal((await store.keys.list()).length, 1)
    })
  }

  it('refuses another text, another purpose, another signature and invalid signatures', async () => {
    const ring = await openKeyring(memoryStore().keys)
    const signature = await ring.sign('page-token', 'text')
    await ring.sign('hop', 'text')
    const [number, mac] = signature.split('.') as [string, string]
    const flipped = (mac.startsWith('A') ? 'B' : 'A') + mac.slice(1)
    assert.equal(await ring.verify('page-token', 'texts', signature), false)
    assert.equal(await ring.verify('hop', 'text', signature), false)
    assert.equal(await ring.verify('never used', 'text', signature), false)
    for (const wrong of [
      `${number}.${flipped}`,
      `2.${mac}`,
      mac,
      '',
      '.',
      `${number}.`,
      `${number}.${mac}A`,
      `-1.${mac}`,
    ]) {
      assert.equal(await ring.verify('page-token', 'text', wrong), false, wrong)
    }
  })

  it('agrees on one key when several processes create the first at the same time', async () => {
    const store = memoryStore()
    const rings = await Promise.all(Array.from({ length: 5 }, () => openKeyring(store.keys, master)))
    const signatures = await Promise.all(rings.map((ring) => ring.sign('page-token', 'text')))
    assert.equal(new Set(signatures).size, 1)
    assert.equal((await store.keys.list()).length, 1)
  })

  it('signs with the newest key and verifies with all, in every process, until the old ones are retired', async () => {
    let time = 1_000
    const store = memoryStore()
    const [one, other] = [
      await openKeyring(store.keys, master, () => time),
      await openKeyring(store.keys, master, () => time),
    ]
    const before = await one.sign('page-token', 'text')
    assert.equal(await other.verify('page-token', 'text', before), true)
    time = 2_000
    await one.rotate('page-token')
    const after = await one.sign('page-token', 'text')
    assert.notEqual(before, after)
    assert.equal(await other.verify('page-token', 'text', after), true)
    assert.equal(await other.sign('page-token', 'text'), after)
    assert.equal(await one.verify('page-token', 'text', before), true)
    await one.retire('page-token', 9_000)
    assert.equal(await one.verify('page-token', 'text', before), false)
    assert.equal(await one.verify('page-token', 'text', after), true)
  })

  it('agrees on one new key when several processes rotate at the same time', async () => {
    const store = memoryStore()
    const rings = await Promise.all([openKeyring(store.keys, master), openKeyring(store.keys, master)])
    await rings[0].sign('page-token', 'text')
    await Promise.all(rings.map((ring) => ring.rotate('page-token')))
    const signatures = await Promise.all(rings.map((ring) => ring.sign('page-token', 'text')))
    assert.equal(signatures[0], signatures[1])
    assert.equal((await store.keys.list()).length, 2)
  })

  it('stores no plain secret under a master key, and seals each key to its position', async () => {
    const store = memoryStore()
    const ring = await openKeyring(store.keys, master)
    await ring.sign('a', 'text')
    await ring.sign('b', 'text')
    const [a, b] = await store.keys.list()
    assert.ok(a && b && a.material.startsWith('aes-gcm.'))
    await store.keys.delete(a.id)
    await store.keys.save({ ...a, material: b.material })
    await assert.rejects(openKeyring(store.keys, master), /wrapped by a different master key/)
  })

  it('reports a wrong, missing, unexpected or malformed master key', async () => {
    const wrapped = memoryStore()
    await (await openKeyring(wrapped.keys, master)).sign('a', 'text')
    await assert.rejects(openKeyring(wrapped.keys, new Uint8Array(32)), /a different master key/)
    await assert.rejects(openKeyring(wrapped.keys), /configure its master key/)
    await assert.rejects(openKeyring(wrapped.keys, new Uint8Array(16)), /must have 32 bytes, not 16/)
    const open = memoryStore()
    await (await openKeyring(open.keys)).sign('a', 'text')
    await assert.rejects(openKeyring(open.keys, master), /is not wrapped/)
  })

  it('seals so that only the same purpose and subject open it, with any of its keys [B-131]', async () => {
    const store = memoryStore()
    const ring = await openKeyring(store.keys, master)
    const sealed = await ring.seal('push-secrets', 'tøken', 'task 1')
    assert.doesNotMatch(sealed, /t.ken/)
    assert.notEqual(await ring.seal('push-secrets', 'tøken', 'task 1'), sealed)
    await ring.rotate('push-secrets')
    const again = await openKeyring(store.keys, master)
    assert.equal(await again.unseal('push-secrets', sealed, 'task 1'), 'tøken')
    await again.seal('other', 'x', '')
    for (const [purpose, text, about] of [
      ['push-secrets', sealed, 'task 2'],
      ['other', sealed, 'task 1'],
      ['push-secrets', sealed.replace(/^1/, '2'), 'task 1'],
      ['push-secrets', sealed.slice(0, -2), 'task 1'],
      ['push-secrets', 'tøken', 'task 1'],
    ] as const) {
      await assert.rejects(again.unseal(purpose, text, about))
    }
  })

  it('has key pairs that all processes share, each with a name derived from it [B-134]', async () => {
    const store = memoryStore()
    const [one, other] = [await openKeyring(store.keys, master), await openKeyring(store.keys, master)]
    const made = await Promise.all([one.keyPairs('jwt'), other.keyPairs('jwt')])
    assert.deepEqual(
      made[0]?.map(({ kid }) => kid),
      made[1]?.map(({ kid }) => kid),
    )
    await Promise.all([one.addKeyPair('jwt', 1), other.addKeyPair('jwt', 1)])
    const [first, second, ...more] = await one.keyPairs('jwt')
    assert.deepEqual(more, [])
    assert.ok(first !== undefined && second !== undefined && first.kid !== second.kid)
    const { calculateJwkThumbprint } = await import('jose')
    assert.equal(await calculateJwkThumbprint(first.publicJwk), first.kid)
    assert.doesNotMatch(JSON.stringify(await store.keys.list()), /"d"/)
  })
})
