import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { openSealer } from '@parley/a2a/internal'
import { eventually } from '../telemetry/testing/traced-server.ts'
import { openHubSecrets, hubSecretPurpose, maxHubSecrets, type HubSecrets } from './hub-secrets.ts'

const about = { who: 'ann' }

/** A replica, and the names of its secrets after each change. */
async function openReplica(t: TestContext, store: FullStore): Promise<HubSecrets & { readonly seen: string[] }> {
  const seen: string[] = []
  const warn = (message: string): void => void seen.push(message)
  const secrets = await openHubSecrets(
    store,
    { warn },
    () => undefined,
    async (values) => void seen.push([...values.keys()].join(' ')),
  )
  t.after(() => secrets.close())
  return Object.assign(Object.create(secrets) as HubSecrets, { seen })
}

/** A store that several processes use. */
function sharedStore(): FullStore {
  return { ...memoryStore(), leaseTtlMs: 10_000 }
}

describe('the secrets of a hub', () => {
  it('are sealed in the store, for their own names', async (t) => {
    const store = memoryStore()
    const secrets = await openReplica(t, store)
    await secrets.set('gpt', 'sesame-is-the-word', about)
    const entries = await store.kv.list('hub-secret', { limit: 10 })
    assert.doesNotMatch(JSON.stringify(entries), /sesame/)
    const sealed = (await store.kv.read('hub-secret', 'value/gpt'))?.value as string
    const [listed] = await secrets.list()
    assert.deepEqual([listed?.name, listed?.setBy], ['gpt', 'ann'])
    const sealer = await openSealer(store)
    assert.equal(await sealer.unseal(hubSecretPurpose, sealed, 'gpt'), 'sesame-is-the-word')
    await assert.rejects(sealer.unseal(hubSecretPurpose, sealed, 'another'))
  })

  it('reach other replicas every ten seconds, which read them only after a change', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const store = sharedStore()
    let lists = 0
    const list: FullStore['kv']['list'] = (...query) => {
      lists += 1
      return store.kv.list(...query)
    }
    const [one, other] = [await openReplica(t, store), await openReplica(t, { ...store, kv: { ...store.kv, list } })]
    await one.set('gpt', 'first', about)
    t.mock.timers.tick(10_000)
    await eventually(() => other.values.get('gpt') === 'first', 'the secret at the other replica')
    lists = 0
    t.mock.timers.tick(10_000)
    await other.refresh()
    assert.equal(lists, 0)
    await one.set('gpt', 'second', about)
    await other.refresh()
    assert.equal(other.values.get('gpt'), 'second')
    assert.equal(await one.remove('gpt'), true)
    await other.refresh()
    assert.deepEqual([other.values.size, other.seen], [0, ['gpt', 'gpt', '']])
    assert.equal(await other.remove('gpt'), false)
  })

  it('are not replaced by a new one, and their number has a limit', async (t) => {
    const store = memoryStore()
    const secrets = await openReplica(t, store)
    await secrets.set('gpt', 'first', about)
    await assert.rejects(secrets.set('gpt', 'second', { ...about, isNew: true }), /There is a secret gpt already/)
    assert.equal(secrets.values.get('gpt'), 'first')
    const value = { setAt: 0, setBy: 'ann' }
    const more = Array.from({ length: maxHubSecrets - 1 }, (_, at) => ({ key: `about/more-${at}`, value }))
    await store.kv.writeAll('hub-secret', more)
    await assert.rejects(secrets.set('one-more', 'x', about), /There are 500 secrets already/)
    await secrets.set('gpt', 'second', about)
    assert.equal(secrets.values.get('gpt'), 'second')
  })

  it('that no key decrypts are missing, with a warning, and the others are read', async (t) => {
    const store = memoryStore()
    await (await openReplica(t, store)).set('gpt', 'sesame', about)
    const foreign = await (await openSealer(memoryStore())).seal(hubSecretPurpose, 'lost', 'old')
    await store.kv.write('hub-secret', { key: 'value/old', value: foreign })
    const secrets = await openReplica(t, store)
    assert.deepEqual([...secrets.values], [['gpt', 'sesame']])
    assert.deepEqual(secrets.seen, ['a secret cannot be decrypted: set it again', 'gpt'])
    await secrets.reseal()
    await secrets.set('old', 'found', about)
    assert.equal(secrets.values.get('old'), 'found')
  })
})
