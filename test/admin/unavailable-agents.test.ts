/** An agent that is down: callers get an error at once, and the operator sees the reason and the next attempt. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { serve } from '@parley/a2a/node'
import { freePort } from '../free-port.ts'
import { listenToFeed } from './feed-listener.ts'
import { openTestHub } from './test-hub.ts'

const [awayPort, restartedPort] = [await freePort(), await freePort()]
const testHub = await openTestHub({
  config: {
    access: { anonymous: '*' },
    listen: { port: 0, grpcPort: 0 },
    agents: {
      broken: { kind: 'module', path: './broken.ts' },
      away: { kind: 'a2a', url: `http://127.0.0.1:${awayPort}` },
      restarted: { kind: 'a2a', url: `http://127.0.0.1:${restartedPort}` },
      unfinished: { kind: 'module', path: './unfinished.ts' },
    },
  },
  files: { 'broken.ts': "import './not-there.ts'\nexport default () => 'hi'\n" },
})
const overGrpc = grpc()
after(() => overGrpc.close())

const message = () => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] })

describe('a message to an agent that is down', () => {
  for (const agent of ['broken', 'away']) {
    it(`is refused at once, without Retry-After: ${agent}`, async () => {
      const viaJsonRpc = await testHub.call(agent, 'SendMessage', { message: message() })
      const posted = await testHub.ask(
        'POST',
        `/a2a/${agent}/message:send`,
        { message: message() },
        { 'A2A-Version': '1.0' },
      )
      for (const { status, headers, json } of [viaJsonRpc, posted]) {
        assert.deepEqual([status, headers.get('retry-after')], [503, null])
        assert.match(JSON.stringify(json), /AGENT_UNAVAILABLE|-32093/)
      }
    })

    for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
      it(`is sent once by our own client: ${agent} over ${binding}`, async () => {
        let attempts = 0
        const remote = await connect(`${testHub.url}/a2a/${agent}`, {
          prefer: [binding],
          bindings: [overGrpc],
          interceptors: [
            (call, next) => {
              attempts += 1
              return next(call)
            },
          ],
        })
        assert.equal(remote.interface.protocolBinding, binding)
        await assert.rejects(remote.send('hi'), { code: 'AGENT_UNAVAILABLE' })
        await assert.rejects(remote.stream('hi').all(), { code: 'AGENT_UNAVAILABLE' })
        assert.equal(attempts, 2)
      })
    }
  }
})

describe('the operator', () => {
  it('sees why a module cannot be loaded, since when, and the time of the next attempt', async () => {
    const { json: listed } = await testHub.ask('GET', '/admin/agents')
    const { json: shown } = await testHub.ask('GET', '/admin/agents/broken')
    for (const agent of [listed.agents.find(({ name }: { name: string }) => name === 'broken'), shown]) {
      const { state, startError } = agent
      assert.equal(state, 'unavailable')
      assert.match(startError.message, /Cannot find module .*not-there\.ts/)
      assert.ok(Date.parse(startError.at) < Date.parse(startError.nextTryAt))
    }
    assert.equal(listed.agents.find(({ name }: { name: string }) => name === 'away').startError, undefined)
  })

  it('is notified of every further attempt', async () => {
    const listener = await listenToFeed(testHub.url)
    await listener.receives(({ event, data }) => event === 'agent' && data.agent === 'broken', 'of the next attempt')
    listener.close()
  })
})

describe('an operator who looks at an agent that is down', () => {
  const agent = async (method: string, path: string) => (await testHub.ask(method, `/admin/agents/${path}`)).json

  it('sees the next attempt, stops the retries, and retries at once', async () => {
    const down = await agent('GET', 'restarted')
    assert.deepEqual([down.state, down.health.state, down.retry.state], ['open', 'down', 'scheduled'])
    assert.match(down.health.why, /ECONNREFUSED/)
    assert.ok(Date.parse(down.retry.nextTryAt) > Date.parse(down.retry.since))
    const listener = await listenToFeed(testHub.url)
    const stopped = await agent('POST', 'restarted/stop-retrying')
    assert.deepEqual([stopped.retry.state, stopped.retry.nextTryAt], ['stopped', undefined])
    await listener.receives(({ event, data }) => event === 'agent' && data.agent === 'restarted', 'of the stop')
    listener.close()
    const refused = await agent('POST', 'restarted/retry')
    assert.deepEqual([refused.health.state, refused.retry.state], ['down', 'scheduled'])
    assert.ok(refused.retry.attempts > stopped.retry.attempts)

    const server = await serve({ agent: () => 'here again', store: memoryStore(), port: restartedPort, quiet: true })
    const up = await agent('POST', 'restarted/retry')
    assert.deepEqual([up.health.state, up.retry], ['up', undefined])
    assert.equal((await testHub.send('restarted', 'hi')).status.state, 'TASK_STATE_COMPLETED')
    await server.close()
    const downAgain = await agent('POST', 'restarted/retry')
    assert.deepEqual([downAgain.health.state, downAgain.retry.attempts], ['down', 1])

    const { json: audit } = await testHub.ask('GET', '/admin/audit?limit=50')
    const entries = audit.entries.filter((entry: { agent?: string }) => entry.agent === 'restarted')
    for (const event of ['agent.retry-stopped', 'agent.retried']) {
      assert.ok(entries.some((entry: { event: string; who: string }) => entry.event === event && entry.who === 'admin'))
    }
  })

  it('stops the retries of an agent that cannot be opened, and opens it once it is repaired', async () => {
    const stopped = await agent('POST', 'unfinished/stop-retrying')
    assert.deepEqual([stopped.state, stopped.retry.state], ['unavailable', 'stopped'])
    assert.deepEqual([stopped.startError.nextTryAt, typeof stopped.startError.message], [undefined, 'string'])
    writeFileSync(join(testHub.folder, 'unfinished.ts'), "export default () => 'done'\n")
    const opened = await agent('POST', 'unfinished/retry')
    assert.deepEqual([opened.state, opened.startError, opened.retry], ['open', undefined, undefined])
  })

  it('gets its retries back with a change of its configuration', async () => {
    assert.equal((await agent('GET', 'away')).health.state, 'down')
    assert.equal((await agent('POST', 'away/stop-retrying')).retry.state, 'stopped')
    const entry = { kind: 'a2a', url: `http://127.0.0.1:${awayPort}/`, description: 'Moved' }
    assert.equal((await testHub.ask('PUT', '/admin/agents/away', { entry })).status, 200)
    assert.notEqual((await agent('POST', 'away/look')).retry?.state, 'stopped')
  })

  it('cannot retry an agent that does not exist', async () => {
    assert.equal((await testHub.ask('POST', '/admin/agents/nothing/retry')).status, 404)
    assert.equal((await testHub.ask('POST', '/admin/agents/nothing/stop-retrying')).status, 404)
  })
})
