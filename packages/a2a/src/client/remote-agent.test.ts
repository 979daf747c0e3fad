import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentFunction } from '../agents/agent.ts'
import { inputRequired, status } from '../agents/reports.ts'
import { A2AError } from '../model/error.ts'
import { openServers } from '../testing/fixtures/test-server.ts'
import { openScriptedPeers } from '../testing/fixtures/scripted-peer.ts'
import { connect } from './connect.ts'
import type { ConnectOptions, RemoteAgent } from './contract.ts'

const { open } = openServers()
const listen = openScriptedPeers()

/** A server without a socket: only `fetch` is between the two. */
function meet(agent: AgentFunction, server: object = {}, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const handler = open({ agent, allowAnonymousList: true, ...server })
  return connect('http://localhost', { fetch: (request) => handler.fetch(request), ...options })
}

async function failure(promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    (value) => assert.fail(`did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(reason instanceof A2AError, String(reason))
  return reason
}

const versions = ['1.0', '0.3', '0.2'] as const
const oldTask = (state: string) => ({ kind: 'task', id: 't1', contextId: 'c1', status: { state } })

describe('an agent', () => {
  it('answers; an open question and a failure are errors that name the task', async () => {
    const agent = await meet(async function* ({ text }) {
      if (text === 'city?') yield inputRequired('Which city?')
      else if (text === 'fail') throw new Error('secret')
      else yield `Hello, ${text}!`
    })
    assert.equal(await agent.ask('Ann'), 'Hello, Ann!')
    const asked = await failure(agent.ask('city?'))
    assert.deepEqual([asked.code, asked.message], ['INPUT_REQUIRED', 'Which city?'])
    assert.equal((await agent.get(String(asked.details['taskId']))).status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal((await failure(agent.ask('fail'))).code, 'TASK_FAILED')
  })

  it('starts a job at once, and reports a missing task', async () => {
    const agent = await meet(async function* ({ signal }) {
      yield status('At it')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const task = await agent.start('job')
    assert.equal(task.kind, 'task')
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    // A peer that responds with a message even if `returnImmediately` is set.
    const talkative = await listen(() => ({
      result: { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'Hello' }] },
    }))
    const error = await failure((await connect(talkative.url)).start('hi'))
    assert.equal(error.code, 'UNSUPPORTED_OPERATION')
    assert.match(error.message, /message .* send\(\)/)
  })

  it('is awaited even if it responds before it is done [B-66]', async () => {
    const hasty = await listen(
      ({ method }, count) => ({ result: oldTask(method === 'tasks/get' && count > 3 ? 'completed' : 'working') }),
      { capabilities: {} },
    )
    const agent = await connect(hasty.url, { limits: { firstDelayMs: 1, pollMs: 1 } })
    const answer = await agent.send('job')
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    const early = await agent.send('job', { returnImmediately: true })
    assert.ok(early.kind === 'task' && early.status.state === 'TASK_STATE_WORKING')
    assert.equal((await agent.wait('t1')).status.state, 'TASK_STATE_COMPLETED')
  })

  it('has one time limit for a send and the wait after it', { timeout: 120_000 }, async () => {
    const idle = await listen(() => ({ result: oldTask('working') }), { capabilities: {} })
    const agent = await connect(idle.url, { limits: { firstDelayMs: 1, pollMs: 5, answerTimeoutMs: 600_000 } })
    assert.equal((await failure(agent.send('job', { timeoutMs: 50 }))).code, 'TIMEOUT')
  })

  it('has a default timeout, whose error names the task', async () => {
    const peer = await listen(() => ({ result: oldTask('working') }))
    // Its subscriptions end at once: a client that gave up on those first would not reach the timeout.
    const limits = { answerTimeoutMs: 800, firstDelayMs: 5, pollMs: 5, attempts: 1_000, maxDelayMs: 10 }
    const agent = await connect(peer.url, { limits })
    const { code, details } = await failure(agent.send('hi'))
    assert.deepEqual([code, details['taskId']], ['TIMEOUT', 't1'])
  })

  it('rejects another task than the requested one', async () => {
    const confused = await listen(() => ({ result: oldTask('working') }))
    const agent = await connect(confused.url)
    assert.equal((await failure(agent.get('t2'))).code, 'INVALID_AGENT_RESPONSE')
    assert.equal((await failure(agent.cancel('t2'))).code, 'INVALID_AGENT_RESPONSE')
  })

  it('lists its tasks if its version supports it', async () => {
    const agent = await meet(async function* ({ text }) {
      yield text
    })
    const { id } = (await agent.send('one')) as { id: string }
    const { tasks, totalSize } = await agent.list({ pageSize: 5 })
    assert.deepEqual([tasks[0]?.id, totalSize], [id, 1])
    const older = await meet(async function* () {}, {}, { version: '0.3' })
    assert.equal((await failure(older.list())).code, 'UNSUPPORTED_OPERATION')
  })

  it('returns its extended card to authenticated callers, in every version, and uses it from then on [B-136 B-139]', async () => {
    for (const version of versions) {
      const handler = open({
        name: 'Public',
        extendedCard: () => ({ name: 'Extended' }),
        authenticate: ({ header }: { header(name: string): string | undefined }) =>
          header('authorization') === 'Bearer one' ? { id: 'ann' } : undefined,
      })
      const fetch = (request: Request): Promise<Response> => handler.fetch(request)
      const agent = await connect('http://localhost', { fetch, version, bearer: 'one', prefer: ['JSONRPC'] })
      assert.equal(agent.card.name, 'Public')
      assert.equal((await agent.extendedCard()).name, 'Extended')
      assert.equal(agent.card.name, 'Extended')
      const unauthenticated = await connect('http://localhost', { fetch, version, prefer: ['JSONRPC'] })
      assert.equal((await failure(unauthenticated.extendedCard())).code, 'UNAUTHENTICATED')
      assert.equal(unauthenticated.card.name, 'Public')
    }
  })
})
