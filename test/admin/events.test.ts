/** The change feed: its events, their order and receivers, and resumption without loss. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import { type FeedEvent, listenToFeed } from './feed-listener.ts'
import { adminKey, openTestHub, waitFor } from './test-hub.ts'

const isTask = (id: string, state?: string) => (one: FeedEvent) =>
  one.event === 'task' && one.data.id === id && (state === undefined || one.data.state === `TASK_STATE_${state}`)

describe('the change feed', { timeout: 120_000 }, () => {
  it('reports changes of tasks, with the first message of a new one', async () => {
    const testHub = await openTestHub()
    const listener = await listenToFeed(testHub.url)
    const { data } = await listener.receives(({ event }) => event === 'ready', 'of readiness')
    assert.match(data.instance, /^[0-9a-f-]{36}$/)
    const { id } = await testHub.send('talker', 'ask which city it is')
    const event = await listener.receives(isTask(id, 'INPUT_REQUIRED'), 'of the question')
    assert.deepEqual([event.data.agent, event.data.title], ['talker', 'ask which city it is'])
    await testHub.ask('POST', `/admin/tasks/${id}/cancel`)
    await listener.receives(isTask(id, 'CANCELED'), 'of the end')
    listener.close()
  })

  it('begins with new events', async () => {
    const testHub = await openTestHub()
    const before = await testHub.send('echo', 'before')
    const listener = await listenToFeed(testHub.url)
    const { id } = await testHub.send('echo', 'after')
    await listener.receives(isTask(id), 'of the new one')
    assert.ok(!listener.events.some(isTask(before.id)))
    listener.close()
  })

  it('reports changes of agents, of the configuration and of webhooks', async () => {
    const receiver = await openFakeRemote(() => ({ status: 200 }))
    after(() => receiver.close())
    const testHub = await openTestHub({ config: { push: { allow: ['127.0.0.1'] } } })
    const listener = await listenToFeed(testHub.url)
    await testHub.ask('POST', '/admin/agents', { name: 'another', entry: { kind: 'demo', agent: 'echo' } })
    await listener.receives(({ event, data }) => event === 'agent' && data.agent === 'another', 'of the agent')
    await listener.receives(({ event }) => event === 'config', 'of the configuration')
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const taskPushNotificationConfig = { id: 'hook', url: `${receiver.url}/hook` }
    const { json } = await testHub.call('echo', 'SendMessage', {
      message,
      configuration: { taskPushNotificationConfig },
    })
    const { id } = json.result.task
    const event = await listener.receives(({ event, data }) => event === 'push' && data.taskId === id, 'of the webhook')
    assert.equal(event.data.configId, 'hook')
    await testHub.ask('DELETE', '/admin/agents/another')
    await waitFor(
      async () => (listener.events.filter(({ event }) => event === 'config').length >= 2 ? true : undefined),
      'the second change is reported',
    )
    listener.close()
  })

  it('resumes by cursor after the hub was killed and restarted, with everything that happened in between', async () => {
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
    const receivedId = await send(first.url, 'received')
    await before.receives(isTask(receivedId, 'COMPLETED'), 'of the first')
    const { lastId } = before
    before.close()
    // No client listens.
    const missedId = await send(first.url, 'missed')
    first.signal('SIGKILL')

    const second = await startHub(folder, [], env)
    const laterId = await send(second.url, 'of the second process')
    const again = await listenToFeed(second.url, lastId)
    await again.receives(isTask(missedId, 'COMPLETED'), 'of the missed task')
    await again.receives(isTask(laterId, 'COMPLETED'), 'of the second process')
    const nextId = await send(second.url, 'next')
    await again.receives(isTask(nextId, 'COMPLETED'), 'of the next task')
    assert.ok(!again.events.some(isTask(receivedId)), 'it was delivered twice')
    assert.ok(!again.events.some(({ event }) => event === 'reset'))
    again.close()
    await second.stop()
  })

  it('resumes by cursor after a restart with changes of agents and of the configuration [full]', async () => {
    const testHub = await openTestHub()
    const before = await listenToFeed(testHub.url)
    await before.receives(({ event }) => event === 'ready', 'of readiness')
    const { json } = await testHub.ask('POST', '/admin/agents', { name: 'one', entry: { kind: 'demo', agent: 'echo' } })
    assert.equal(json.effects.added[0], 'one')
    await before.receives(({ event }) => event === 'config', 'of the configuration')
    const { lastId } = before
    before.close()
    await testHub.ask('POST', '/admin/agents', { name: 'two', entry: { kind: 'demo', agent: 'echo' } })
    await testHub.restart()
    const again = await listenToFeed(testHub.url, lastId)
    await again.receives(({ event, data }) => event === 'agent' && data.agent === 'two', 'of the second agent')
    assert.ok(!again.events.some(({ event }) => event === 'reset'))
    again.close()
  })

  it('sends a reset for a cursor of another store, and ignores an invalid one', async () => {
    const testHub = await openTestHub()
    await testHub.send('echo', 'hi')
    const lost = await listenToFeed(testHub.url, '999999999-1')
    await lost.receives(({ event }) => event === 'reset', 'of the reset')
    assert.deepEqual(
      lost.events.map(({ event }) => event),
      ['ready', 'reset'],
    )
    lost.close()
    const odd = await listenToFeed(testHub.url, 'nonsense')
    await odd.receives(({ event }) => event === 'ready', 'of readiness')
    assert.equal(
      odd.events.some(({ event }) => event === 'reset'),
      false,
    )
    odd.close()
  })

  it('summarizes many changes by their number, and repeats none [full]', async () => {
    const testHub = await openTestHub()
    const first = await listenToFeed(testHub.url)
    await first.receives(({ event }) => event === 'ready', 'of readiness')
    const { lastId } = first
    first.close()
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 25 }, (_, n) => testHub.send('echo', `${round} ${n}`)))
    }
    const again = await listenToFeed(testHub.url, lastId)
    const many = await again.receives(({ event }) => event === 'tasks', 'of many tasks')
    assert.ok(many.data.count > 100)
    again.close()
  })

  it('ends when the hub stops, and does not delay it', { timeout: 120_000 }, async () => {
    const testHub = await openTestHub()
    const listener = await listenToFeed(testHub.url)
    await listener.receives(({ event }) => event === 'ready', 'of readiness')
    await testHub.hub.close()
    await listener.ended
  })
})
