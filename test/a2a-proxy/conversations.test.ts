/** How messages are mapped to the remote agent: contexts, input requests, cancels, and which fields are forwarded. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { cursorExtension, timestampsExtension, type Task } from '@parley/a2a'
import { traceExtension } from '@parley/a2a/internal'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { startAuthorizationServer } from '../../packages/a2a/src/testing/fixtures/authorization-server.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openProxyToFakeRemote, messageIn, sendForTask } from './fake-remote-fixture.ts'
import { statusOf, textOf } from './proxy-fixture.ts'
import { remoteTaskIds, artifact, chunk, statusUpdate, task } from './fake-remote.ts'
import type { FakeCall } from './fake-remote.ts'

const done = { events: [{ task: task('WORKING') }, statusUpdate('COMPLETED')] }
const asking = (text: string, messageId: string, state = 'INPUT_REQUIRED') =>
  task(state, {
    status: { state: `TASK_STATE_${state}`, message: { messageId, role: 'ROLE_AGENT', parts: [{ text }] } },
  })
const mood = 'https://example.com/extensions/mood/v1'

describe('a conversation with a remote agent', () => {
  it('has a context of its own, separate from other callers and conversations', async (t) => {
    for (const keeps of [true, false]) {
      // One that accepts our contexts, and one that gives all callers the same context.
      const { agent, as, remote } = await openProxyToFakeRemote(t, (call) => {
        const contextId = (keeps ? messageIn(call).contextId : undefined) ?? remoteTaskIds.contextId
        return { events: [{ task: { ...task('COMPLETED'), contextId } }] }
      })
      const bob = as({ id: 'bob' })
      await agent.send('1', { contextId: 'c1' })
      await agent.send('2', { contextId: 'c1' })
      await agent.send('3', { contextId: 'c2' })
      await bob.send('4', { contextId: 'c1' })
      await bob.send('5', { contextId: 'c1' })
      const [one, two, three, four, five] = remote.called(/Send/).map((call) => messageIn(call).contextId)
      assert.equal(two, keeps ? one : remoteTaskIds.contextId)
      assert.equal(new Set([two, three, four]).size, 3)
      assert.equal(four, five)
      assert.ok(![one, two, three, four].includes('c1'), 'the ids of our callers stay with us')
    }
  })

  it('keeps the context that the agent chose, also after a restart', async (t) => {
    const { agent, remote, restart } = await openProxyToFakeRemote(t, () => done)
    await agent.send('1', { contextId: 'c1' })
    const { agent: later } = await restart()
    await later.send('2', { contextId: 'c1' })
    const [first, second] = remote.called(/Send/).map((call) => messageIn(call).contextId)
    assert.notEqual(first, remoteTaskIds.contextId)
    assert.equal(second, remoteTaskIds.contextId)
  })

  it('keeps the context that the agent chose for the next message, however slow the store is', async (t) => {
    const kv = memoryKeyValueStore()
    const slow: KeyValueStore = {
      ...kv,
      async write(...args) {
        for (let turn = 0; turn < 20; turn += 1) await turnOfTheLoop()
        return kv.write(...args)
      },
    }
    const ended = { events: [{ task: task('COMPLETED') }] }
    const { agent, remote } = await openProxyToFakeRemote(t, () => ended, {}, { services: { kv: slow } })
    await agent.send('1', { contextId: 'c1' })
    await agent.send('2', { contextId: 'c1' })
    assert.equal(remote.called(/Send/).map((call) => messageIn(call).contextId)[1], remoteTaskIds.contextId)
  })

  it('sends no context to an agent that refuses it, and then uses that of the agent [B-56]', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, (call) => {
      if (call.method === 'GetTask') return { result: task('COMPLETED') }
      const { contextId } = messageIn(call)
      if (contextId === undefined || contextId === remoteTaskIds.contextId) return done
      return { error: { code: -32602, message: 'I do not know this context' } }
    })
    assert.equal(statusOf(await sendForTask(agent, 'go', { contextId: 'c1' })), 'COMPLETED')
    assert.equal(statusOf(await sendForTask(agent, 'go', { contextId: 'c1' })), 'COMPLETED')
    const contexts = remote.called(/Send/).map((call) => messageIn(call).contextId)
    assert.deepEqual(contexts.slice(1), [undefined, remoteTaskIds.contextId])
  })

  it('continues in the task that asked, whose question is stored once [B-102]', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, ({ count }) => {
      if (count === 1) return { events: [{ task: asking('Which city?', 'q1') }] }
      // Like some servers, it shows the task with its question before it accepts the answer.
      return { events: [{ task: asking('Which city?', 'q1') }, chunk('Oslo it is'), statusUpdate('COMPLETED')] }
    })
    const asked = await sendForTask(agent)
    assert.equal(statusOf(asked), 'INPUT_REQUIRED: Which city?')
    const events = await agent.stream('Oslo', { taskId: asked.id }).all()
    assert.ok(!JSON.stringify(events.slice(1)).includes('Which city?'))
    const answered = await agent.get(asked.id)
    assert.deepEqual([statusOf(answered), textOf(answered)], ['COMPLETED', 'Oslo it is'])
    const [first, second] = remote.called(/Send/).map(messageIn)
    assert.deepEqual([first?.taskId, second?.taskId, second?.contextId], [undefined, 'r1', undefined])
    assert.notEqual(first?.messageId, second?.messageId)
    const questions = (answered.history ?? []).filter((message) => JSON.stringify(message).includes('Which city?'))
    assert.equal(questions.length, 1)
  })

  it('delivers a second question that looks like the first', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, ({ method, count }) => {
      if (method === 'GetTask') return { result: asking('Which street?', 'q2') }
      if (method === 'SubscribeToTask') return { error: { code: -32004, message: 'no' } }
      return { events: [{ task: count === 1 ? asking('Which city?', 'q1') : asking('Which street?', 'q2') }] }
    })
    const asked = await sendForTask(agent)
    const again = await sendForTask(agent, 'Oslo', { taskId: asked.id })
    assert.equal(statusOf(again), 'INPUT_REQUIRED: Which street?')
  })

  it('delivers the result of a task that continued without an answer [B-156]', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, ({ method, count }) => {
      if (method === 'SendStreamingMessage' && count === 1) {
        return { events: [{ task: asking('Sign in at https://id.example.com', 'q1', 'AUTH_REQUIRED') }] }
      }
      if (method !== 'GetTask') return { error: { code: -32004, message: 'The task has ended' } }
      return { result: task('COMPLETED', { artifacts: [artifact('signed in')] }) }
    })
    const asked = await sendForTask(agent)
    assert.equal(statusOf(asked), 'AUTH_REQUIRED: Sign in at https://id.example.com')
    const ended = await sendForTask(agent, 'I have', { taskId: asked.id })
    assert.deepEqual([statusOf(ended), textOf(ended)], ['COMPLETED', 'signed in'])
  })

  it('gives a waiting message a separate remote task, and keeps their artifacts apart [B-44]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { agent, remote } = await openProxyToFakeRemote(t, ({ count }) => {
      const taskId = `r${count}`
      const at = { taskId, contextId: 'rc' }
      return {
        events: [
          { task: { ...task('WORKING'), id: taskId } },
          ...(count === 1 ? [() => gate.promise] : []),
          { artifactUpdate: { ...at, artifact: artifact(`answer ${count}`), lastChunk: true } },
          { statusUpdate: { ...at, status: { state: 'TASK_STATE_COMPLETED' } } },
        ],
      }
    })
    const first = (await agent.send('one', { returnImmediately: true })) as Task
    const both = agent.send('two', { taskId: first.id })
    gate.resolve()
    const ended = (await both) as Task
    assert.deepEqual([ended.id, statusOf(ended)], [first.id, 'COMPLETED'])
    const answers = ended.artifacts?.map(({ parts }) => parts[0] && 'text' in parts[0] && parts[0].text)
    assert.deepEqual(answers, ['answer 1', 'answer 2'])
    const [, second] = remote.called(/Send/).map(messageIn)
    assert.deepEqual([second?.taskId, second?.referenceTaskIds], [undefined, ['r1']])
  })

  it('maps referenced tasks to those of the agent', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, () => done)
    const { id } = await sendForTask(agent)
    const parts = [{ text: 'more' }]
    await agent.send({ parts, referenceTaskIds: [id, 'of another caller'] })
    const [, second] = remote.called(/Send/).map(messageIn)
    assert.deepEqual(second?.referenceTaskIds, ['r1'])
  })
})

describe('a canceled task', () => {
  const working = (more: readonly (() => Promise<unknown>)[] = []) =>
    ({ events: [{ task: task('WORKING') }, chunk('begun'), ...more], then: 'hang' }) as const

  async function begun(agent: { get(id: string): Promise<Task>; send: unknown }, id: string): Promise<void> {
    while (textOf(await agent.get(id)) !== 'begun');
  }

  it('is canceled at the agent [B-110]', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'CancelTask' ? { result: task('CANCELED') } : working(),
    )
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    await begun(agent, id)
    assert.equal(statusOf(await agent.cancel(id)), 'CANCELED')
    assert.deepEqual(
      remote.called(/CancelTask/).map(({ params }) => params['id']),
      ['r1'],
    )
  })

  it('that ended first keeps its final state [B-113]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { agent } = await openProxyToFakeRemote(t, ({ method }) => {
      if (method !== 'CancelTask') {
        return {
          events: [{ task: task('WORKING') }, chunk('begun'), () => gate.promise, statusUpdate('COMPLETED', 'Done')],
        }
      }
      gate.resolve()
      return { error: { code: -32002, message: 'Task cannot be canceled' } }
    })
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    await begun(agent, id)
    await assert.rejects(agent.cancel(id), { code: 'TASK_NOT_CANCELABLE' })
    assert.equal(statusOf(await agent.get(id)), 'COMPLETED: Done')
  })

  it('that the agent cannot cancel is canceled here, whatever the agent reports later [B-43]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { agent } = await openProxyToFakeRemote(
      t,
      ({ method }) =>
        method === 'CancelTask'
          ? { error: { code: -32004, message: 'I cannot' } }
          : {
              events: [
                { task: task('WORKING') },
                chunk('begun'),
                () => gate.promise,
                statusUpdate('COMPLETED', 'Done'),
              ],
            },
      {},
      { test: { cancelGraceMs: 200 } },
    )
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    await begun(agent, id)
    assert.equal(statusOf(await agent.cancel(id)), 'CANCELED')
    gate.resolve()
    assert.equal(statusOf(await agent.get(id)), 'CANCELED')
  })

  it('whose remote id is not known yet is canceled once it is', async (t) => {
    const gate = Promise.withResolvers<void>()
    const canceled = Promise.withResolvers<FakeCall>()
    const { agent, remote } = await openProxyToFakeRemote(t, async (call) => {
      if (call.method === 'CancelTask') {
        canceled.resolve(call)
        return { result: task('CANCELED') }
      }
      await gate.promise
      return working()
    })
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    await eventually(() => remote.called(/Send/).length > 0)
    const canceling = agent.cancel(id)
    gate.resolve()
    assert.equal(statusOf(await canceling), 'CANCELED')
    assert.equal((await canceled.promise).params['id'], 'r1')
  })

  it('that waits for input is canceled at the agent', async (t) => {
    const canceled = Promise.withResolvers<FakeCall>()
    const { agent } = await openProxyToFakeRemote(t, (call) => {
      if (call.method !== 'CancelTask') return { events: [{ task: asking('Which city?', 'q1') }] }
      canceled.resolve(call)
      return { result: task('CANCELED') }
    })
    const { id } = await sendForTask(agent)
    assert.equal(statusOf(await agent.cancel(id)), 'CANCELED')
    assert.equal((await canceled.promise).params['id'], 'r1')
  })
})

describe('a request to a remote agent', () => {
  it('has the parts and the metadata of the caller, without its hop-by-hop fields', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, () => done)
    const parts = [
      { text: 'look', metadata: { n: 1 } },
      { data: { rows: [1, null] }, mediaType: 'application/json' },
      { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' },
      { url: 'https://example.com/a.pdf', filename: 'a.pdf' },
    ]
    await agent.send(
      { parts, metadata: { [mood]: 'good', [traceExtension]: { traceId: 'x' }, traceId: 'x', keep: true } },
      { metadata: { skillId: 'fake', [cursorExtension]: {} }, acceptedOutputModes: ['text/plain'] },
    )
    const [call] = remote.called(/Send/)
    assert.ok(call !== undefined)
    assert.deepEqual(messageIn(call).parts, parts)
    assert.deepEqual(messageIn(call).metadata, { [mood]: 'good', keep: true })
    assert.deepEqual(call.params['metadata'], { skillId: 'fake' })
    assert.deepEqual(call.params['configuration'], { acceptedOutputModes: ['text/plain'] })
  })

  it('has the extensions that the caller uses and the agent supports [B-142]', async (t) => {
    const unknown = 'https://example.com/extensions/other/v1'
    const card = { capabilities: { streaming: true, extensions: [{ uri: mood }, { uri: cursorExtension }] } }
    const { agent, remote, opened } = await openProxyToFakeRemote(
      t,
      () => done,
      { card },
      { entry: { extensions: [mood] } },
    )
    assert.deepEqual(opened.extensions, [{ uri: mood }])
    await agent.send({ parts: [{ text: 'hi' }], extensions: [mood, unknown, cursorExtension] })
    await agent.send('hi')
    const [first, second] = remote.called(/Send/)
    assert.equal(first?.headers['a2a-extensions'], mood)
    assert.deepEqual(first && messageIn(first).extensions, [mood])
    assert.equal(second?.headers['a2a-extensions'], undefined)
  })

  it('has the extensions that the agent requires, if the configuration forwards them [B-144]', async (t) => {
    const card = { capabilities: { streaming: true, extensions: [{ uri: mood, required: true }] } }
    const { agent, remote } = await openProxyToFakeRemote(t, () => done, { card }, { entry: { extensions: [mood] } })
    await agent.send('hi')
    assert.equal(remote.called(/Send/)[0]?.headers['a2a-extensions'], mood)
  })

  it("has the hub's credentials as the card requires, and the caller only if the configuration allows it", async (t) => {
    const card = {
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Fake-Key' } } },
      securityRequirements: [{ schemes: { key: { list: [] } } }],
    }
    const entry = { auth: { apiKey: 'k-1' }, headers: { 'x-team': 'blue' } }
    const quiet = await openProxyToFakeRemote(t, () => done, { card }, { entry })
    await quiet.agent.send('hi')
    const { headers } = quiet.remote.called(/Send/)[0] as FakeCall
    assert.deepEqual([headers['x-fake-key'], headers['x-team']], ['k-1', 'blue'])
    assert.ok(!JSON.stringify(headers).includes('alice'))
    const open = await openProxyToFakeRemote(t, () => done, {}, { entry: { forwardCaller: 'X-Forwarded-User' } })
    await open.agent.send('hi')
    await open.as({ id: 'https://id.example.com|zoë' }).send('hi')
    const users = open.remote.called(/Send/).map((call) => call.headers['x-forwarded-user'])
    assert.deepEqual(users, ['alice', 'https://id.example.com|zo%C3%AB'])
  })

  it('has a token by client credentials, which is reused for many calls', async (t) => {
    const server = await startAuthorizationServer({ clientId: 'hub', clientSecret: 's3cret' })
    t.after(() => server.close())
    const oauth = { clientId: 'hub', clientSecret: 's3cret', tokenUrl: `${server.url}/token` }
    const { agent, remote, opened } = await openProxyToFakeRemote(t, () => done, {}, { entry: { auth: { oauth } } })
    await agent.send('hi')
    await opened.fetchCard?.(AbortSignal.timeout(120_000))
    await agent.send('hi')
    const shown = remote.called(/Send/).map(({ headers }) => headers.authorization)
    assert.match(shown[0] ?? '', /^Bearer \S+$/)
    assert.equal(shown[1], shown[0])
    assert.equal(server.asked.filter(({ path }) => path === '/token').length, 1)
  })

  it('has the tenant of the interface or of the configuration [B-165]', async (t) => {
    for (const [entry, tenant] of [
      [{}, 'blue'],
      [{ tenant: 'red' }, 'red'],
    ] as const) {
      let url = ''
      const { agent, remote } = await openProxyToFakeRemote(
        t,
        () => done,
        {
          card: () => ({
            supportedInterfaces: [
              { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'blue' },
            ],
          }),
        },
        { entry },
      )
      url = remote.url
      await agent.send('hi')
      assert.equal(remote.called(/Send/)[0]?.params['tenant'], tenant)
    }
  })
})

describe('the output of a remote agent', () => {
  it('is forwarded with its names and metadata, without its hop-by-hop fields', async (t) => {
    const ofTheLine = { [cursorExtension]: { cursor: '7' }, [timestampsExtension]: { at: 'now' } }
    const shown = {
      artifactId: 'report',
      name: 'Report',
      description: 'All there is',
      parts: [{ text: 'one' }],
      metadata: { page: 1, ...ofTheLine },
      extensions: [mood, cursorExtension],
    }
    const { agent } = await openProxyToFakeRemote(t, () => ({
      events: [
        { task: task('WORKING') },
        {
          artifactUpdate: {
            ...remoteTaskIds,
            artifact: shown,
            lastChunk: true,
            metadata: { of: 'event', ...ofTheLine },
          },
        },
        {
          statusUpdate: {
            ...remoteTaskIds,
            status: {
              state: 'TASK_STATE_COMPLETED',
              message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }], metadata: { [mood]: 'good' } },
            },
            metadata: { [traceExtension]: { traceId: 'x' }, traceId: 'x', spanId: 'y', tokens: 3 },
          },
        },
      ],
    }))
    const events = await agent.stream('go').all()
    const update = events.find((event) => 'artifactUpdate' in event)
    assert.ok(update !== undefined && 'artifactUpdate' in update)
    const { artifact: received, metadata, lastChunk } = update.artifactUpdate
    assert.deepEqual(received, { ...shown, metadata: { page: 1 }, extensions: [mood] })
    assert.deepEqual([metadata, lastChunk], [{ of: 'event' }, true])
    const last = events.at(-1)
    assert.ok(last !== undefined && 'statusUpdate' in last)
    assert.deepEqual(last.statusUpdate.metadata, { tokens: 3 })
    assert.deepEqual(last.statusUpdate.status.message?.metadata, { [mood]: 'good' })
    assert.notEqual(last.statusUpdate.status.message?.messageId, 'm')
  })
})
