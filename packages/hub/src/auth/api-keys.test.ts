import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { generateKey } from './key-format.ts'
import { keyCacheMs, createApiKeys } from './api-keys.ts'

const order = { name: 'CI', scopes: ['agent:gpt'], createdBy: 'admin' }

/** A key-value store that counts reads and exposes its content. */
function watched(kv: KeyValueStore) {
  let reads = 0
  return {
    kv: {
      ...kv,
      read: (kind: string, key: string) => {
        if (kind === 'key') reads += 1
        return kv.read(kind, key)
      },
    },
    reads: () => reads,
    async everything(): Promise<string> {
      const kinds = await Promise.all(['key', 'key-of', 'key-use'].map((kind) => kv.list(kind, { limit: 1_000 })))
      return JSON.stringify(kinds)
    },
  }
}

function open(start = Date.UTC(2030, 0, 1)) {
  let now = start
  const { kv, reads, everything } = watched(memoryKeyValueStore(() => now))
  const replica = () => createApiKeys({ kv, now: () => now })
  return { keys: replica(), replica, reads, everything, kv, pass: (ms: number) => (now += ms), now: () => now }
}

describe('an API key', () => {
  it('is shown once, and stored as a hash', async () => {
    const { keys, everything } = open()
    const { key, info } = await keys.create(order)
    assert.equal((await keys.find(key))?.id, info.id)
    await keys.close()
    const [, , secret = ''] = key.split('_')
    assert.doesNotMatch(await everything(), new RegExp(secret.slice(0, 8)))
    assert.doesNotMatch(JSON.stringify([info, await keys.get(info.id), await keys.list({ limit: 10 })]), /hash|"key":/)
    assert.deepEqual([info.prefix, info.name, info.state], [`pk_${info.id}`, 'CI', 'active'])
  })

  it('opens nothing if its hash is not the one that is kept under its id', async () => {
    const { keys, kv } = open()
    const [{ key, info }, { info: other }] = [await keys.create(order), await keys.create(order)]
    const kept = await kv.read('key', other.id)
    await kv.write('key', { key: info.id, value: kept?.value ?? null })
    assert.equal(await keys.find(key), undefined)
    assert.equal(await keys.find(generateKey().key), undefined)
    assert.equal(await keys.find('nonsense'), undefined)
  })

  it('that a caller created has a principal of its own, and is one of the keys of the caller until it is revoked', async () => {
    const { keys } = open()
    const { info } = await keys.create({ ...order, createdBy: 'ann', isCallerKey: true })
    assert.equal(info.principal, `key:${info.id}`)
    assert.deepEqual(
      (await keys.ofCaller('ann', 10)).map(({ id }) => id),
      [info.id],
    )
    await keys.revoke(info.id)
    assert.deepEqual(await keys.ofCaller('ann', 10), [])
  })

  it('has a principal of its own, or goes on with that of another key', async () => {
    const { keys } = open()
    const { info: old } = await keys.create(order)
    const { key, info } = await keys.create({ ...order, principal: old.principal })
    assert.equal(old.principal, `key:${old.id}`)
    assert.equal((await keys.find(key))?.principal, old.principal)
    assert.notEqual(info.id, old.id)
    assert.deepEqual((await keys.ofCaller(old.principal, 10)).map(({ id }) => id).sort(), [old.id, info.id].sort())
  })

  it('ends when its time is over', async () => {
    const { keys, pass, now } = open()
    const { key, info } = await keys.create({ ...order, expiresAt: now() + 60_000 })
    pass(59_999)
    assert.ok(await keys.find(key))
    pass(1)
    assert.equal(await keys.find(key), undefined)
    assert.equal((await keys.get(info.id))?.state, 'expired')
    assert.deepEqual(await keys.ofCaller(info.principal, 10), [])
  })

  it('is revoked here at once, and on other replicas within two seconds', async () => {
    const { keys, replica, pass } = open()
    const { key, info } = await keys.create(order)
    const other = replica()
    assert.ok(await other.find(key))
    assert.ok(await keys.find(key))
    assert.equal((await keys.revoke(info.id))?.state, 'revoked')
    assert.equal(await keys.find(key), undefined)
    assert.equal(keyCacheMs, 2_000)
    pass(keyCacheMs)
    assert.equal(await other.find(key), undefined)
    assert.equal(await keys.find(key), undefined)
    assert.equal(await keys.revoke('missing'), undefined)
    assert.deepEqual(await keys.ofCaller(info.principal, 10), [])
  })

  it('is not believed again by a look that began before it was revoked', async () => {
    const { keys, kv, now } = open()
    const { key, info } = await keys.create(order)
    const slow = Promise.withResolvers<void>()
    let isSlow = true
    const lagging = createApiKeys({
      now,
      kv: {
        ...kv,
        async read(kind, id) {
          const stored = await kv.read(kind, id)
          if (isSlow) await slow.promise
          return stored
        },
      },
    })
    const looking = lagging.find(key)
    isSlow = false
    await lagging.revoke(info.id)
    slow.resolve()
    await looking
    assert.equal(await lagging.find(key), undefined)
  })

  it('is looked up once in that time, however often it is shown', async () => {
    const { keys, reads, pass } = open()
    const { key } = await keys.create(order)
    for (let count = 0; count < 50; count++) await keys.find(key)
    assert.equal(reads(), 1)
    pass(keyCacheMs)
    await keys.find(key)
    assert.equal(reads(), 2)
  })

  it('tells when it was last used, which is written now and then and not with each request', async () => {
    const { keys, replica, pass, now } = open()
    const { key, info } = await keys.create(order)
    assert.equal((await keys.get(info.id))?.lastUsedAt, undefined)
    pass(5_000)
    await keys.find(key)
    assert.equal((await keys.get(info.id))?.lastUsedAt, now())
    assert.equal((await replica().get(info.id))?.lastUsedAt, undefined)
    await keys.close()
    assert.equal((await replica().get(info.id))?.lastUsedAt, now())
  })

  it('cannot be checked while the store does not answer, and can again afterwards', async () => {
    const { keys: _, kv, now } = open()
    let isDown = true
    const keys = createApiKeys({
      now,
      kv: { ...kv, read: (kind, key) => (isDown ? Promise.reject(new Error('down')) : kv.read(kind, key)) },
    })
    const { key } = await keys.create(order)
    await assert.rejects(keys.find(key), /down/)
    isDown = false
    assert.ok(await keys.find(key))
  })

  it('is listed in pages', async () => {
    const { keys } = open()
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push((await keys.create(order)).info.id)
    const seen: string[] = []
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await keys.list({ limit: 2, after })
      seen.push(...page.keys.map(({ id }) => id))
      after = page.after
    }
    assert.deepEqual(seen, [...ids].sort())
  })
})
