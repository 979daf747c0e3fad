import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { KeyStore } from '../../stores/store.ts'
import { checkPurpose, openKeyring } from './keyring.ts'
import type { MasterKeys } from './key-wrapping.ts'

const bytes = (value: number): Uint8Array => new Uint8Array(32).fill(value)
const [first, second, third] = [bytes(1), bytes(2), bytes(3)]
const only = (current: Uint8Array) => (): MasterKeys => ({ current, others: [] })
const both =
  (current: Uint8Array, ...others: Uint8Array[]) =>
  (): MasterKeys => ({ current, others })

/** A store that creates its own master keys, as SQLite does. `stop` interrupts the rotation before that step. */
function ownMasterKeys(keys: KeyStore, stop?: 'replace' | 'adopt') {
  const state: { current: Uint8Array; next: Uint8Array | undefined } = { current: first, next: undefined }
  const store: KeyStore = {
    ...keys,
    createMasterKey: async () => (state.next ??= second),
    async replace(changes) {
      if (stop === 'replace') throw new Error('interrupted')
      return (await keys.replace?.(changes)) === true
    },
    async adoptMasterKey(key) {
      if (stop === 'adopt') throw new Error('interrupted')
      state.current = key
      state.next = undefined
    },
  }
  const masters = (): MasterKeys => ({ current: state.current, others: state.next === undefined ? [] : [state.next] })
  return { state, store, masters }
}

describe('a rotation of the master key', () => {
  it('wraps every key again, and nothing that was signed or sealed is lost', async () => {
    const { keys } = memoryStore()
    const ring = await openKeyring(keys, only(first))
    const signature = await ring.sign('page', 'text')
    const sealed = await ring.seal('push', 'secret', 'about')
    const { kid } = (await ring.keyPairs('card'))[0] ?? {}
    const before = await keys.list()

    const replica = await openKeyring(keys, both(second, first))
    assert.equal(await replica.rotateMasterKey(), 3)
    const after = await keys.list()
    assert.ok(after.every(({ material }, at) => material !== before[at]?.material))
    await assert.rejects(openKeyring(keys, only(first)), /wrapped by a different master key/)

    // The replica that has only the old key continues with the keys that it knows.
    for (const one of [ring, replica, await openKeyring(keys, only(second))]) {
      assert.equal(await one.verify('page', 'text', signature), true)
      assert.equal(await one.unseal('push', sealed, 'about'), 'secret')
      assert.equal((await one.keyPairs('card'))[0]?.kid, kid)
    }
    assert.equal(await replica.rotateMasterKey(), 0)
  })

  it('is awaited: until then new keys are wrapped by the old master key, so that all replicas can read them', async () => {
    const { keys } = memoryStore()
    const old = await openKeyring(keys, only(first))
    await old.sign(checkPurpose, '')
    const replica = await openKeyring(keys, both(second, first))
    const signature = await replica.sign('page', 'text')
    assert.equal(await old.verify('page', 'text', signature), true)
    await replica.rotateMasterKey()
    await replica.sign('another', 'text')
    assert.equal(await (await openKeyring(keys, only(second))).verify('page', 'text', signature), true)
  })

  it('covers a key that another replica creates meanwhile', async () => {
    const { keys } = memoryStore()
    await (await openKeyring(keys, only(first))).sign(checkPurpose, '')
    const other = await openKeyring(keys, both(second, first))
    let isFirst = true
    const rotating = await openKeyring(
      {
        ...keys,
        // After the keys were read, and before they are replaced.
        async replace(changes) {
          if (isFirst) await other.sign('new', 'text')
          isFirst = false
          return (await keys.replace?.(changes)) === true
        },
      },
      both(second, first),
    )
    assert.equal(await rotating.rotateMasterKey(), 2)
    await openKeyring(keys, only(second))
  })

  it('is completed by the replica whose key was saved with the old master key after it', async () => {
    const { keys } = memoryStore()
    await (await openKeyring(keys, only(first))).sign(checkPurpose, '')
    const rotating = await openKeyring(keys, both(second, first))
    const late = await openKeyring(
      {
        ...keys,
        async save(row) {
          await rotating.rotateMasterKey()
          await keys.save(row)
        },
      },
      both(second, first),
    )
    await late.sign('new', 'text')
    await openKeyring(keys, only(second))
  })

  for (const stop of ['replace', 'adopt'] as const) {
    it(`of the store's own key can be interrupted before "${stop}": the keys open, and the next one continues`, async () => {
      const { keys } = memoryStore()
      const interrupted = ownMasterKeys(keys, stop)
      const ring = await openKeyring(interrupted.store, interrupted.masters)
      const sealed = await ring.seal('push', 'secret', 'about')
      await assert.rejects(ring.rotateMasterKey(), /interrupted/)
      assert.equal(await ring.unseal('push', sealed, 'about'), 'secret')

      // As the process that starts next: the same files, and nothing that stops it.
      const again = ownMasterKeys(keys)
      again.state.next = interrupted.state.next
      const reopened = await openKeyring(again.store, again.masters)
      assert.equal(await reopened.unseal('push', sealed, 'about'), 'secret')
      assert.deepEqual(again.state, { current: stop === 'adopt' ? second : first, next: undefined })
      if (stop === 'adopt') again.store.createMasterKey = async () => (again.state.next ??= third)
      assert.equal(await reopened.rotateMasterKey(), 1)
      assert.deepEqual(again.state, { current: stop === 'adopt' ? third : second, next: undefined })
      assert.equal(await reopened.unseal('push', sealed, 'about'), 'secret')
    })
  }

  it('is refused for a key that the store does not manage', async () => {
    const { keys } = memoryStore()
    await assert.rejects((await openKeyring(keys, first)).rotateMasterKey(), /no master key of its own/)
    await assert.rejects((await openKeyring(keys)).rotateMasterKey(), /no master key of its own/)
  })
})
