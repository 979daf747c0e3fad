/** An agent that is down: callers get an error at once, and the operator sees the reason and the next attempt. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { freePort } from '../free-port.ts'
import { listenToFeed } from './feed-listener.ts'
import { openTestHub } from './test-hub.ts'

const testHub = await openTestHub({
  config: {
    access: { anonymous: '*' },
    listen: { port: 0, grpcPort: 0 },
    agents: {
      broken: { kind: 'module', path: './broken.ts' },
      away: { kind: 'a2a', url: `http://127.0.0.1:${await freePort()}` },
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
