/** The change feed: events, order, receivers; and that a reconnecting client misses nothing. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import { type FeedEvent, listenToFeed } from './feed-listener.ts'
import { adminKey, openTestHub, waitFor } from './test-hub.ts'

const isTask = (id: string, state?: string) => (one: FeedEvent) =>
  one.event === 'task' && one.data.id === id && (state === undefined || one.data.state === `TASK_STATE_${state}`)

describe('the feed of changes', { timeout: 120_000 }, () => {
  it('tells of tasks as they move, with what a new one began with', async () => {
    const testHub = await openTestHub()
    const listener = await listenToFeed(testHub.url)
    const { data } = await listener.hears(({ event }) => event === 'ready', 'that it is ready')
    assert.match(data.instance, /^[0-9a-f-]{36}$/)
    const { id } = await testHub.send('talker', 'ask which city it is')
    const told = await listener.hears(isTask(id, 'INPUT_REQUIRED'), 'of the question')
    assert.deepEqual([told.data.agent, told.data.title], ['talker', 'ask which city it is'])
    await testHub.ask('POST', `/admin/tasks/${id}/cancel`)
    await listener.hears(isTask(id, 'CANCELED'), 'of the end')
    listener.close()
  })

  it('begins now, and not with what was before', async () => {
    const testHub = await openTestHub()
    const before = await testHub.send('echo', 'before')
    const listener = await listenToFeed(testHub.url)
    const { id } = await testHub.send('echo', 'after')
    await listener.hears(isTask(id), 'of the new one')
    assert.ok(!listener.heard.some(isTask(before.id)))
    listener.close()
  })

  it('tells of agents, of the configuration and of webhooks', async () => {
    const receiver = await openFakeRemote(() => ({ status: 200 }))
    after(() => receiver.close())
    const testHub = await openTestHub({ config: { push: { allow: ['127.0.0.1'] } } })
    const listener = await listenToFeed(testHub.url)
    await testHub.ask('POST', '/admin/agents', { name: 'another', entry: { kind: 'demo', agent: 'echo' } })
    await listener.hears(({ event, data }) => event === 'agent' && data.agent === 'another', 'of the agent')
    await listener.hears(({ event }) => event === 'config', 'of the configuration')
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const taskPushNotificationConfig = { id: 'hook', url: `${receiver.url}/hook` }
    const { json } = await testHub.call('echo', 'SendMessage', {
      message,
      configuration: { taskPushNotificationConfig },
    })
    const { id } = json.result.task
    const told = await listener.hears(({ event, data }) => event === 'push' && data.taskId === id, 'of the webhook')
    assert.equal(told.data.configId, 'hook')
    await testHub.ask('DELETE', '/admin/agents/another')
    await waitFor(
      async () => (listener.heard.filter(({ event }) => event === 'config').length >= 2 ? true : undefined),
      'the second change is told',
    )
    listener.close()
  })

  it('goes on by cursor after the hub was killed and started again, with everything that happened meanwhile', async () => {
    const folder = await newFolder({
      'parley.yaml': 'agents: { echo: { kind: demo, agent: echo } }\n',
    })
    const env = { PARLEY_ADMIN_KEY: adminKey }
    const send = async (url: string, text: string): Promise<string> => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
      const headers = { 'content-type': 'application/json', 'A2A-Version': '1.0' }
      const answer = (await (await fetch(`${url}/a2a/echo`, { method: 'POST', headers, body })).json()) as any
      return answer.result.task.id
    }
    const first = await startHub(folder, [], env)
    const before = await listenToFeed(first.url)
    const heardId = await send(first.url, 'heard')
    await before.hears(isTask(heardId, 'COMPLETED'), 'of the first')
    const { lastId } = before
    before.close()
    // No client listens.
    const missedId = await send(first.url, 'missed')
    first.signal('SIGKILL')

    const second = await startHub(folder, [], env)
    const unheardId = await send(second.url, 'of the second process')
    const again = await listenToFeed(second.url, lastId)
    await again.hears(isTask(missedId, 'COMPLETED'), 'of what was missed')
    await again.hears(isTask(unheardId, 'COMPLETED'), 'of what came since')
    const nextId = await send(second.url, 'next')
    await again.hears(isTask(nextId, 'COMPLETED'), 'of what comes')
    assert.ok(!again.heard.some(isTask(heardId)), 'it was told twice')
    assert.ok(!again.heard.some(({ event }) => event === 'reset'))
    again.close()
    await second.stop()
  })

  it('goes on by cursor after a restart with changes of agents and of the configuration, too', async () => {
    const testHub = await openTestHub()
    const before = await listenToFeed(testHub.url)
    await before.hears(({ event }) => event === 'ready', 'that it is ready')
    const { json } = await testHub.ask('POST', '/admin/agents', { name: 'one', entry: { kind: 'demo', agent: 'echo' } })
    assert.equal(json.effects.added[0], 'one')
    await before.hears(({ event }) => event === 'config', 'of the configuration')
    const { lastId } = before
    before.close()
    await testHub.ask('POST', '/admin/agents', { name: 'two', entry: { kind: 'demo', agent: 'echo' } })
    await testHub.restart()
    const again = await listenToFeed(testHub.url, lastId)
    await again.hears(({ event, data }) => event === 'agent' && data.agent === 'two', 'of the second agent')
    assert.ok(!again.heard.some(({ event }) => event === 'reset'))
    again.close()
  })

  it('says so where a cursor is of another store, or is none', async () => {
    const testHub = await openTestHub()
    await testHub.send('echo', 'hi')
    const lost = await listenToFeed(testHub.url, '999999999-1')
    await lost.hears(({ event }) => event === 'reset', 'that something was missed')
    assert.deepEqual(
      lost.heard.map(({ event }) => event),
      ['ready', 'reset'],
    )
    lost.close()
    const odd = await listenToFeed(testHub.url, 'nonsense')
    await odd.hears(({ event }) => event === 'ready', 'that it is ready')
    assert.equal(
      odd.heard.some(({ event }) => event === 'reset'),
      false,
    )
    odd.close()
  })

  it('tells many at once by their number, and none of them twice', async () => {
    const testHub = await openTestHub()
    const first = await listenToFeed(testHub.url)
    await first.hears(({ event }) => event === 'ready', 'that it is ready')
    const { lastId } = first
    first.close()
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 25 }, (_, n) => testHub.send('echo', `${round} ${n}`)))
    }
    const again = await listenToFeed(testHub.url, lastId)
    const many = await again.hears(({ event }) => event === 'tasks', 'of many')
    assert.ok(many.data.count > 100)
    again.close()
  })

  it('ends when the hub goes, and is no reason for it to stay', { timeout: 60_000 }, async () => {
    const testHub = await openTestHub()
    const listener = await listenToFeed(testHub.url)
    await listener.hears(({ event }) => event === 'ready', 'that it is ready')
    await testHub.hub.close()
    await listener.ended
  })
})
