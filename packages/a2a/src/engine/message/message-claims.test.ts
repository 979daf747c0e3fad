import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anonymous } from '../../model/caller.ts'
import type { Message } from '../../model/task.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { IdempotencyKey } from '../../stores/store.ts'
import { aliceContext, shortTimes, userMessage } from '../../testing/fixtures/test-engine.ts'
import type { AgentEntry, CallContext } from '../contract.ts'
import { openKeyring } from '../keys/keyring.ts'
import { createMessageClaims, type MessageClaims } from './message-claims.ts'

const entry: AgentEntry = { agent: () => 'x', inputModes: [], outputModes: [], streaming: true, options: shortTimes }
const message = userMessage({ messageId: 'm1', parts: [{ text: 'hunter2' }] })

async function openClaims(store = memoryStore()): Promise<MessageClaims> {
  const claims = createMessageClaims(await openKeyring(store.keys))
  await claims.open()
  return claims
}

async function claimIn(claims: MessageClaims, said: Message, over: Partial<CallContext> = {}): Promise<IdempotencyKey> {
  return (await claims.claim(said, { ...aliceContext, ...over }, entry)) ?? assert.fail('no claim')
}

describe('the claim of a message', () => {
  it('lasts for the window', async () => {
    assert.equal((await claimIn(await openClaims(), message)).ttlMs, 60_000)
  })

  it('is the same in every process that shares a store, and differs between stores [B-163]', async () => {
    const store = memoryStore()
    const [here, there] = [await openClaims(store), await openClaims(store)]
    const long = { ...message, parts: [{ text: 'x'.repeat(10_000) }] }
    for (const said of [message, long]) {
      const claim = await claimIn(here, said)
      assert.deepEqual(await claimIn(there, said), claim)
      assert.notEqual(
        (await claimIn(await openClaims(), said)).hash,
        claim.hash,
        'a guess cannot be tried without the key',
      )
    }
  })

  it('is created synchronously for a short message, also before the key was read', async () => {
    const claims = createMessageClaims(await openKeyring(memoryStore().keys))
    const first = claims.claim(message, aliceContext, entry)
    assert.ok(first instanceof Promise)
    assert.deepEqual(claims.claim(message, aliceContext, entry) instanceof Promise, true)
    const made = await first
    assert.deepEqual(claims.claim(message, aliceContext, entry), made)
  })

  it('is by content outside of tasks, and by the task inside of one [B-163]', async () => {
    const claims = await openClaims()
    const other = { ...message, parts: [{ text: 'hunter3' }] }
    assert.notEqual((await claimIn(claims, message)).key, (await claimIn(claims, other)).key)
    const [one, two] = [
      await claimIn(claims, { ...message, taskId: 't' }),
      await claimIn(claims, { ...other, taskId: 't' }),
    ]
    assert.equal(one.key, two.key)
    assert.notEqual(one.hash, two.hash)
    assert.notEqual(one.key, (await claimIn(claims, { ...message, taskId: 'u' })).key)
  })

  it('covers the received message, before any extension changes it', async () => {
    const claims = await openClaims()
    const changed = { ...message, metadata: { at: 1 } }
    assert.deepEqual(await claimIn(claims, changed, { receivedMessage: message }), await claimIn(claims, message))
  })

  it('of a message that presents what opens one task is by that alone, also without a window and for anonymous callers', async () => {
    const claims = await openClaims()
    const off = { ...entry, options: { ...shortTimes, idempotencyWindowMs: 0 } }
    const once = { singleUse: { id: 'token 1', ttlMs: 90_000 } }
    const claimOf = async (said: Message, over: Partial<CallContext> = {}, as = off) =>
      (await claims.claim(said, { ...aliceContext, ...once, ...over }, as)) ?? assert.fail('no claim')
    const first = await claimOf(message)
    assert.deepEqual(await claimOf({ ...message }), first)
    assert.deepEqual([first.ttlMs, (await claimOf(message, {}, entry)).ttlMs], [90_000, 90_000])
    for (const other of [
      await claimOf({ ...message, parts: [{ text: 'another' }] }),
      await claimOf({ ...message, taskId: 't' }),
      await claimOf(message, { tenant: 'acme' }),
      await claimOf(message, { caller: anonymous }),
    ]) {
      assert.equal(other.key, first.key)
      assert.notEqual(other.hash, first.hash)
    }
    assert.notEqual((await claimOf(message, { singleUse: { id: 'token 2', ttlMs: 1 } })).key, first.key)
    assert.notEqual((await claimOf(message, { agent: 'other' })).key, first.key)
  })

  it('is not created without a window, nor for an anonymous caller with a guessable id [B-163]', async () => {
    const claims = await openClaims()
    const off = { ...entry, options: { ...shortTimes, idempotencyWindowMs: 0 } }
    assert.equal(claims.claim(message, aliceContext, off), undefined)
    assert.equal(claims.claim(message, { ...aliceContext, caller: anonymous }, entry), undefined)
    assert.equal(claims.claim({ ...message, taskId: 't' }, { ...aliceContext, caller: anonymous }, entry), undefined)
    const named = await claimIn(claims, { ...message, messageId: crypto.randomUUID() }, { caller: anonymous })
    assert.match(named.key, /anonymous/)
  })
})
