/** What the lists of traces and of webhooks contain beside ids: the request, the agent, and the last attempt. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { openTestHub, waitFor } from './test-hub.ts'

const receiver = await openFakeRemote(() => ({ status: 400 }))
after(() => receiver.close())
const testHub = await openTestHub({ config: { push: { allow: ['127.0.0.1'], schedule: [] } } })
const { ask, call, send } = testHub

async function withHook(agent: string, text: string, id: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const taskPushNotificationConfig = { id, url: `${receiver.url}/${id}?token=secret` }
  const { json } = await call(agent, 'SendMessage', { message, configuration: { taskPushNotificationConfig } })
  return json.result.task.id
}

const list = async (query: string): Promise<any[]> => (await ask('GET', `/admin/push?${query}`)).json.push
const ids = (push: readonly any[]): readonly string[] => push.map(({ configId }) => configId)

describe('the list of webhooks', () => {
  it('has the task, its first message, the cursor and the result of the last attempt', async () => {
    const taskId = await withHook('talker', '  A report\nfor the board ', 'one')
    const dead = await waitFor(async () => (await list('state=dead'))[0], 'it is given up')
    assert.deepEqual(
      [dead.taskId, dead.agent, dead.title, dead.deliveredSeq],
      [taskId, 'talker', 'A report for the board', 0],
    )
    assert.ok(dead.head > 3)
    assert.match(dead.last.outcome, /^HTTP 4\d\d$/)
    const { json } = await ask('GET', `/admin/push/${taskId}/one`)
    assert.deepEqual([json.agent, json.head, json.last], [dead.agent, dead.head, json.attempts[0]])
  })

  it('is filtered by agent and by text, and paged', async () => {
    await withHook('echo', 'hello', 'two')
    await withHook('talker', 'another report', 'three')
    assert.deepEqual(ids(await list('agent=talker')), ['three', 'one'])
    assert.deepEqual(ids(await list('text=REPORT')), ['three', 'one'])
    assert.deepEqual(ids(await list('text=report&agent=echo')), [])
    assert.deepEqual(ids(await list('text=%2Ftwo')), ['two'])
    // The hidden part of an address is not searched.
    assert.deepEqual(ids(await list('text=secret')), [])
    const seen: string[] = []
    for (let query = 'limit=1&agent=talker'; ;) {
      const { json } = await ask('GET', `/admin/push?${query}`)
      seen.push(...ids(json.push))
      if (json.before === undefined) break
      query = `limit=1&agent=talker&before=${json.before}`
    }
    assert.deepEqual(seen, ['three', 'one'])
  })
})

describe('the list of traces', () => {
  it('has the first words of the task', async () => {
    const { id } = await send('talker', 'say this')
    const { json } = await ask('GET', '/admin/traces?limit=1')
    assert.deepEqual([json.traces[0].taskId, json.traces[0].title], [id, 'say this'])
    assert.equal((await ask('GET', `/admin/traces/${id}`)).json.traces[0].summary.title, 'say this')
  })

  it('is filtered by failures', async () => {
    const { id } = await send('talker', 'fail for once')
    const { json } = await ask('GET', '/admin/traces?minErrors=1')
    assert.deepEqual(
      json.traces.map(({ taskId }: any) => taskId),
      [id],
    )
    assert.equal((await ask('GET', '/admin/traces?minErrors=9')).json.traces.length, 0)
    assert.equal((await ask('GET', '/admin/traces?minErrors=x')).status, 400)
  })
})

describe('the list of callers', () => {
  it('counts the requests that a limit refused, not as calls or errors', async () => {
    const proof = await testHub.key({ agents: ['talker'], rate: '1/h', principal: 'eager' })
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    for (let n = 0; n < 3; n += 1) await testHub.call('talker', 'SendMessage', { message }, proof)
    const { callers } = (await testHub.ask('GET', '/admin/callers')).json
    const { calls, errors, refused } = callers.find(({ caller }: { caller: string }) => caller === 'eager')
    assert.deepEqual([calls, errors, refused], [1, 0, 2])
  })
})
