import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { createPushReceiver } from './push-receiver.ts'

describe('push notifications of a remote agent', () => {
  const kv = memoryKeyValueStore()
  const partsOf = (publicUrl: string | undefined) => ({ name: 'my agent', kv, publicUrl: () => publicUrl })
  const hooks = createPushReceiver(partsOf('https://hub.example.com/base'))

  async function knock(taskId: string, headers: Record<string, string>, method = 'POST'): Promise<number> {
    const url = `https://hub.example.com/base/a2a/my%20agent/hooks/${taskId}`
    return (await hooks.handle(new Request(url, { method, headers }))).status
  }

  it('are where the hub is reached, with a token for each task', async () => {
    const one = await hooks.configFor('t/1')
    const two = await hooks.configFor('t2')
    assert.equal(one?.url, 'https://hub.example.com/base/a2a/my%20agent/hooks/t%2F1')
    assert.ok(one.token.length >= 43)
    assert.notEqual(one.token, two?.token)
    assert.deepEqual(one.authentication, { scheme: 'Bearer', credentials: one.token })
  })

  it('are not offered while the hub has no public address', async () => {
    assert.equal(await createPushReceiver(partsOf(undefined)).configFor('t1'), undefined)
  })

  it('wake the waiting turn only for the token of its task, in either header', async () => {
    const woken: string[] = []
    const deaf = hooks.onNotification('t1', () => woken.push('t1'))
    hooks.onNotification('t2', () => woken.push('t2'))
    const { token = '' } = (await hooks.configFor('t1')) ?? {}
    assert.equal(await knock('t1', { 'X-A2A-Notification-Token': token }), 204)
    assert.equal(await knock('t1', { authorization: `Bearer ${token}` }), 204)
    assert.equal(await knock('t2', { 'X-A2A-Notification-Token': token }), 401)
    assert.equal(await knock('t1', {}), 401)
    assert.equal(await knock('t1', { authorization: `Basic ${token}` }), 401)
    assert.equal(await knock('t1', { 'X-A2A-Notification-Token': `${token}x` }), 401)
    assert.deepEqual(woken, ['t1', 't1'])
    deaf()
    assert.equal(await knock('t1', { 'X-A2A-Notification-Token': token }), 204)
    assert.deepEqual(woken, ['t1', 't1'])
  })

  it('verify the token of a task in every process with the same key-value store', async () => {
    const other = createPushReceiver(partsOf('https://hub.example.com'))
    assert.equal((await other.configFor('t1'))?.token, (await hooks.configFor('t1'))?.token)
    const fresh = { ...partsOf('https://hub.example.com'), kv: memoryKeyValueStore() }
    const [one, two] = await Promise.all([
      createPushReceiver(fresh).configFor('t1'),
      createPushReceiver(fresh).configFor('t1'),
    ])
    assert.equal(one?.token, two?.token)
    assert.notEqual(one?.token, (await hooks.configFor('t1'))?.token)
  })

  it('take nothing but notifications', async () => {
    assert.equal(await knock('t1', {}, 'GET'), 405)
    assert.equal(
      (await hooks.handle(new Request('https://hub.example.com/a2a/x/hooks/', { method: 'POST' }))).status,
      404,
    )
    assert.equal(await knock('%E0%A4%A', {}), 401)
  })
})
