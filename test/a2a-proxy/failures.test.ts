/** What a caller receives when the remote agent, or the connection to it, fails. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialsExtension, cursorExtension } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { freePort } from '../free-port.ts'
import { openProxyToFakeRemote, messageIn, sendForTask } from './fake-remote-fixture.ts'
import { openProxyFixture, statusOf, textOf } from './proxy-fixture.ts'
import { artifact, chunk, openFakeRemote, statusUpdate, task } from './fake-remote.ts'
import type { FakeAnswer } from './fake-remote.ts'

/** Must not reach callers. */
const inside = 'db-7.internal:5432'
const quick = { reconnectTimeout: '1s' }

describe('the failure of a remote agent', () => {
  const refusals: readonly [what: string, given: FakeAnswer, expected: RegExp, reason: string][] = [
    ['an internal error', { error: { code: -32603, message: inside } }, /^The agent failed\.$/, 'INTERNAL'],
    ['a page of its server', { status: 500, body: inside }, /agent/i, ''],
    ['a refusal of our credentials', { status: 401, body: inside }, /credentials of this hub/, 'UNAUTHENTICATED'],
    ['a prohibition', { status: 403, body: inside }, /denies this operation/, 'PERMISSION_DENIED'],
    ['a limit', { status: 429, headers: { 'retry-after': '3600' } }, /no more requests now/, 'RATE_LIMITED'],
    ['an answer that is none', { result: { nothing: inside } }, /invalid response/, 'INVALID_AGENT_RESPONSE'],
    ['a stream of nonsense', { events: [{ nothing: inside }] }, /invalid response/, 'INVALID_AGENT_RESPONSE'],
    [
      'a refusal of the content, in its words',
      { error: { code: -32005, message: 'No pictures, please' } },
      /does not accept this content type\. The agent reported: No pictures, please/,
      'CONTENT_TYPE_NOT_SUPPORTED',
    ],
    [
      'a demand for an extension',
      { error: { code: -32008, message: inside } },
      /requires a protocol extension/,
      'EXTENSION_SUPPORT_REQUIRED',
    ],
  ]
  for (const [what, given, expected, reason] of refusals) {
    it(`is reported as such, without details: ${what}`, async (t) => {
      const { agent } = await openProxyToFakeRemote(t, () => given, {}, { entry: quick })
      const events = await agent.stream('go').all()
      const last = events.at(-1)
      assert.ok(last !== undefined && 'statusUpdate' in last)
      const { status, metadata } = last.statusUpdate
      assert.equal(status.state, 'TASK_STATE_FAILED')
      assert.match(statusOf({ id: '', status }).replace('FAILED: ', ''), expected)
      if (reason !== '') assert.equal(metadata?.['reason'], reason)
      assert.ok(!JSON.stringify(events).includes(inside))
    })
  }

  it('that is temporary is retried once the task runs', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, ({ method, count }) => {
      if (method === 'SendStreamingMessage') return { events: [{ task: task('WORKING') }, chunk('half ')], then: 'cut' }
      if (method === 'SubscribeToTask') return count < 3 ? { status: 500 } : { error: { code: -32603, message: 'no' } }
      return count < 3 ? { status: 500 } : { result: task('COMPLETED', { artifacts: [artifact('half whole')] }) }
    })
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'half whole'])
    assert.equal(remote.called(/Send/).length, 1)
  })

  it('that persists ends the task after the retry limit [full]', async (t) => {
    const { agent } = await openProxyToFakeRemote(
      t,
      ({ method }) =>
        method === 'SendStreamingMessage' ? { events: [{ task: task('WORKING') }], then: 'cut' } : 'cut',
      {},
      { entry: quick },
    )
    assert.match(statusOf(await sendForTask(agent)), /^FAILED: The connection to the agent broke/)
  })

  it('to remember a task is reported', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'SendStreamingMessage'
        ? { events: [{ task: task('WORKING') }], then: 'cut' }
        : { error: { code: -32001, message: 'Task not found' } },
    )
    assert.equal(statusOf(await sendForTask(agent)), 'FAILED: The agent no longer has this task.')
  })
})

describe('an unavailable remote agent', () => {
  it('is reported as unavailable, and is called once it is available', async (t) => {
    const first = await openFakeRemote(() => 'cut')
    const port = Number(new URL(first.url).port)
    await first.close()
    const { agent, lines } = await openProxyFixture(t, first.url, { test: { openAfterMs: 2_000 } })
    await assert.rejects(agent.send('go'), { code: 'AGENT_UNAVAILABLE', message: 'The agent cannot be reached now' })
    assert.ok(lines.some(({ message }) => message === 'the remote agent cannot be reached'))
    const back = await openFakeRemote(() => ({ events: [{ task: task('WORKING') }, statusUpdate('COMPLETED')] }), {
      port,
    })
    t.after(() => back.close())
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
  })

  it('whose address serves something else gives no card: -32006, because no task exists yet [S1-9]', async (t) => {
    for (const card of [{ supportedInterfaces: 5 }, { name: null }]) {
      const { agent } = await openProxyToFakeRemote(t, () => 'cut', { card }, { test: { openAfterMs: 60_000 } })
      await assert.rejects(agent.send('go'), {
        code: 'INVALID_AGENT_RESPONSE',
        message: 'The agent has no readable agent card',
      })
    }
  })

  it('with a reachable card fails the task and suggests a retry [full]', async (t) => {
    const dead = await openFakeRemote(() => 'cut')
    await dead.close()
    const supportedInterfaces = [{ url: dead.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    const { agent } = await openProxyToFakeRemote(t, () => 'cut', { card: { supportedInterfaces } })
    const failed = await sendForTask(agent)
    assert.equal(statusOf(failed), 'FAILED: The agent cannot be reached now. Try again later.')
    const [last] = (await agent.stream('go').all()).slice(-1)
    assert.ok(last !== undefined && 'statusUpdate' in last)
    assert.equal(last.statusUpdate.metadata?.['reason'], 'AGENT_UNAVAILABLE')
  })

  it('does not prevent the hub from starting, and is healthy once it is available', async (t) => {
    const port = await freePort()
    const { opened } = await openProxyFixture(t, `http://127.0.0.1:${port}`)
    await assert.rejects(Promise.resolve(opened.fetchCard?.(AbortSignal.timeout(120_000))))
    await assert.rejects(Promise.resolve(opened.health?.(AbortSignal.timeout(120_000))))
    const back = await openFakeRemote(() => 'cut', { port })
    t.after(() => back.close())
    await opened.health?.(AbortSignal.timeout(120_000))
    assert.equal((await opened.fetchCard?.(AbortSignal.timeout(120_000)))?.name, 'Fake')
  })
})

describe('a message whose response is lost', () => {
  const lost =
    'FAILED: The connection broke before the agent confirmed the message. The agent may or may not be working on it.'

  it('is never sent twice to an agent that might do the work twice', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, () => 'cut', { version: '0.3' })
    assert.equal(statusOf(await sendForTask(agent)), lost)
    assert.equal(remote.called(/message/).length, 1)
  })

  it('is searched in the task list of the agent [B-163]', async (t) => {
    let got: string | undefined
    const { agent, remote } = await openProxyToFakeRemote(t, (call) => {
      if (call.method === 'SendStreamingMessage') {
        got = messageIn(call).messageId
        return 'cut'
      }
      const history = [{ messageId: got, role: 'ROLE_USER', parts: [{ text: 'go' }] }]
      const found = task('COMPLETED', { history, artifacts: [artifact('found')] })
      const page = { tasks: [task('COMPLETED'), found], nextPageToken: '', pageSize: 50, totalSize: 2 }
      if (call.method === 'ListTasks') return { result: page }
      return call.method === 'GetTask' ? { result: found } : { error: { code: -32004, message: 'ended' } }
    })
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'found'])
    assert.equal(remote.called(/Send/).length, 1)
    const listed = remote.called(/ListTasks/)[0]?.params['contextId']
    assert.equal(listed, messageIn(remote.called(/Send/)[0]!).contextId)
  })

  it('fails if it is not in the task list, or if tasks cannot be listed', async (t) => {
    for (const answer of [
      { result: { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 } },
      { error: { code: -32601, message: 'Method not found' } },
    ]) {
      const { agent, remote } = await openProxyToFakeRemote(t, ({ method }) =>
        method === 'ListTasks' ? answer : 'cut',
      )
      assert.equal(statusOf(await sendForTask(agent)), lost)
      assert.equal(remote.called(/Send/).length, 1)
    }
  })

  it('is sent again if it answers an open question, and not if the task has continued', async (t) => {
    for (const hasGoneOn of [false, true]) {
      const question = { messageId: 'q1', role: 'ROLE_AGENT', parts: [{ text: 'Where?' }] }
      const asks = task('INPUT_REQUIRED', { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: question } })
      const ends = task('COMPLETED', { artifacts: [artifact('there')] })
      const { agent, remote } = await openProxyToFakeRemote(t, ({ method, count }) => {
        if (method === 'GetTask') return { result: hasGoneOn || count > 1 ? ends : asks }
        if (method === 'SubscribeToTask') return { error: { code: -32004, message: 'ended' } }
        if (count === 2) return 'cut'
        return { events: [{ task: count === 1 ? asks : ends }] }
      })
      const asked = await sendForTask(agent)
      const done = (await agent.send('there', { taskId: asked.id })) as Task
      assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'there'])
      const messages = remote.called(/Send/).map(messageIn)
      assert.equal(messages.length, hasGoneOn ? 2 : 3)
      assert.equal(messages.at(-1)?.messageId, messages[1]?.messageId)
      assert.ok(messages.slice(1).every(({ taskId }) => taskId === 'r1'))
    }
  })

  it('is sent again after a restart if the agent deduplicates messages, unless it had secrets, which are not stored', async (t) => {
    const card = { capabilities: { streaming: true, extensions: [{ uri: cursorExtension }] } }
    const question = { messageId: 'q1', role: 'ROLE_AGENT', parts: [{ text: 'Password?' }] }
    const asks = task('INPUT_REQUIRED', { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: question } })
    for (const isSecret of [false, true]) {
      const hanging = Promise.withResolvers<void>()
      const { agent, remote, restart } = await openProxyToFakeRemote(
        t,
        async ({ count }) => {
          if (count === 1) return { events: [{ task: asks }] }
          if (count > 2) return { events: [statusUpdate('WORKING'), statusUpdate('COMPLETED')] }
          hanging.resolve()
          return new Promise<never>(() => {})
        },
        { card },
      )
      const asked = await sendForTask(agent)
      const metadata = isSecret ? { [credentialsExtension]: { sensitive: true } } : {}
      await agent.send({ parts: [{ text: 'open sesame', metadata }] }, { taskId: asked.id, returnImmediately: true })
      await hanging.promise
      const { agent: later } = await restart()
      let task = await later.get(asked.id)
      while (task.status.state === 'TASK_STATE_WORKING') task = await later.get(asked.id)
      const messages = remote.called(/Send/).map(messageIn)
      if (isSecret) {
        assert.match(statusOf(task), /^FAILED: The hub restarted before a secret in this message reached the agent/)
        assert.equal(messages.length, 2)
      } else {
        assert.equal(statusOf(task), 'COMPLETED')
        assert.equal(messages.length, 3)
        assert.equal(messages[2]?.messageId, messages[1]?.messageId)
      }
    }
  })
})

describe('a restart of the hub', { timeout: 120_000 }, () => {
  it('leads to polling if the agent speaks 0.3 without cursors, and not to a subscription [B-98]', async (t) => {
    const ids = { taskId: 'r1', contextId: 'rc' }
    const says = (text: string) => ({ artifactId: 'answer', parts: [{ kind: 'text', text }] })
    const shows = (state: string, text: string) => ({
      ...{ kind: 'task', id: 'r1', contextId: 'rc', status: { state } },
      ...(text !== '' && { artifacts: [says(text)] }),
    })
    const { agent, remote, restart } = await openProxyToFakeRemote(
      t,
      ({ method, count }) => {
        if (method === 'tasks/get')
          return { result: shows(count < 2 ? 'working' : 'completed', count < 2 ? 'one two ' : 'one two three') }
        return {
          events: [shows('working', ''), { ...ids, kind: 'artifact-update', artifact: says('one '), append: false }],
          then: 'hang',
        }
      },
      { version: '0.3' },
    )
    let id = ''
    for await (const event of agent.stream('go')) {
      if ('task' in event) id = event.task.id
      if ('artifactUpdate' in event) break
    }
    const { agent: later } = await restart()
    const done = await later.subscribe(id).result()
    assert.ok('status' in done)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'one two three'])
    assert.equal(remote.called(/subscribe/i).length, 0)
  })
})
