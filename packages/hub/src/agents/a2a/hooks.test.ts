import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryNotes } from '@parley/a2a'
import { createHooks } from './hooks.ts'

describe('the hooks of a remote agent', () => {
  const notes = memoryNotes()
  const partsOf = (publicUrl: string | undefined) => ({ name: 'my agent', notes, publicUrl: () => publicUrl })
  const hooks = createHooks(partsOf('https://hub.example.com/base'))

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

  it('are nowhere as long as nobody knows where we are reached', async () => {
    assert.equal(await createHooks(partsOf(undefined)).configFor('t1'), undefined)
  })

  it('wake whoever waits, for the token of that task alone, in either place', async () => {
    const woken: string[] = []
    const deaf = hooks.listen('t1', () => woken.push('t1'))
    hooks.listen('t2', () => woken.push('t2'))
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

  it('know the token of a task in every process that has the same notes', async () => {
    const other = createHooks(partsOf('https://hub.example.com'))
    assert.equal((await other.configFor('t1'))?.token, (await hooks.configFor('t1'))?.token)
    const fresh = { ...partsOf('https://hub.example.com'), notes: memoryNotes() }
    const [one, two] = await Promise.all([createHooks(fresh).configFor('t1'), createHooks(fresh).configFor('t1')])
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
