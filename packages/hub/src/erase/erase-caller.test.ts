import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type Json } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { createApiKeys } from '../auth/api-keys.ts'
import { createTaskQuota, creatorQuotaId } from '../limits/task-quota.ts'
import { eraseCaller } from './erase-caller.ts'

const batches = 250
const pseudonym = 'erased:1'

/** A store with an audit in which every batch names alice once. */
async function auditedStore(): Promise<FullStore> {
  const store = memoryStore()
  for (let n = 0; n < batches; n += 1) {
    const value = ['alice', 'bob'].map((who) => ({ at: n, event: 'call', who })) as Json
    await store.kv.write('audit', { key: String(n).padStart(6, '0'), value })
  }
  return store
}

/** Counts the batches of the audit that were read and not replaced yet. `failAt`: the replacement that fails. */
function watched(store: FullStore, failAt = Infinity) {
  let [held, most, replacements] = [0, 0, 0]
  const watchedStore: FullStore = {
    ...store,
    kv: {
      ...store.kv,
      async list(kind, query) {
        const found = await store.kv.list(kind, query)
        if (kind === 'audit') most = Math.max(most, (held += found.length))
        return found
      },
    },
    erasure: {
      ...store.erasure,
      async erase(order) {
        if (order.replacements !== undefined && (replacements += 1) === failAt) throw new Error('killed')
        held -= order.replacements?.length ?? 0
        return store.erasure.erase(order)
      },
    },
  }
  return { store: watchedStore, most: () => most }
}

async function names(store: FullStore): Promise<readonly unknown[]> {
  const found = await store.kv.list('audit', { limit: batches })
  const entries = found.flatMap(({ value }) => value as { who: string }[])
  return [...new Set(entries.map(({ who }) => who))].toSorted()
}

describe('erasing a caller with keys that it created', () => {
  it('revokes them, and keeps their records under a pseudonym, because tasks belong to them', async () => {
    const store = memoryStore()
    const keys = createApiKeys({ kv: store.kv })
    const order = { name: 'k', scopes: ['agent:gpt'], createdBy: 'alice' }
    const { key, info } = await keys.create({ ...order, isCallerKey: true })
    const { key: ofService } = await keys.create({ ...order, principal: 'service' })
    await createTaskQuota(store.kv).charge(creatorQuotaId('alice'), 5)
    assert.equal((await eraseCaller({ store }, 'alice', pseudonym)).keys, 0)
    const afterwards = createApiKeys({ kv: store.kv })
    assert.equal(await afterwards.find(key), undefined)
    const { principal, createdBy, state } = (await afterwards.get(info.id)) ?? {}
    assert.deepEqual([principal, createdBy, state], [`key:${info.id}`, pseudonym, 'revoked'])
    // Created by an admin for another principal: not its own.
    assert.equal((await afterwards.find(ofService))?.principal, 'service')
    assert.deepEqual(await store.kv.list('quota', { limit: 1 }), [])
    assert.deepEqual(await afterwards.ofCaller('alice', 10), [])
  })

  it('revokes them in the hub that runs, before tasks are erased', async () => {
    const store = memoryStore()
    const { info } = await createApiKeys({ kv: store.kv }).create({
      ...{ name: 'k', scopes: ['agent:gpt'], createdBy: 'alice', isCallerKey: true },
    })
    const revoked: string[] = []
    const nothing = async (): Promise<void> => {}
    const hub = { cancel: nothing, forget: nothing, endSession: nothing, forgetCaller: nothing, flush: nothing }
    await eraseCaller({ store, hub: { ...hub, revokeKey: async (id) => void revoked.push(id) } }, 'alice', pseudonym)
    assert.deepEqual(revoked, [info.id])
  })
})

describe('erasing a caller from the audit', () => {
  it('has one page of it in memory, however long it is', async () => {
    const { store, most } = watched(await auditedStore())
    const { auditEntries } = await eraseCaller({ store }, 'alice', pseudonym)
    assert.equal(auditEntries, batches)
    assert.ok(most() <= 20, `${most()} batches`)
    assert.deepEqual(await names(store), ['bob', pseudonym])
  })

  it('continues after an interruption, and counts every entry once', async () => {
    const full = await auditedStore()
    let erased = 0
    const onProgress = ({ auditEntries }: { auditEntries: number }): void => void (erased = auditEntries)
    const killed = eraseCaller({ store: watched(full, 4).store, onProgress }, 'alice', pseudonym)
    await assert.rejects(killed, /killed/)
    assert.ok(erased > 0 && erased < batches)
    assert.deepEqual(await names(full), ['alice', 'bob', pseudonym])
    const rest = await eraseCaller({ store: full }, 'alice', pseudonym)
    assert.equal(erased + rest.auditEntries, batches)
    assert.deepEqual(await names(full), ['bob', pseudonym])
  })
})
