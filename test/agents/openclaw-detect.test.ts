/** `parley agent add` on the address of an OpenClaw gateway, and on others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { DetectorResult } from '../../packages/hub/src/agents/detect/detect.ts'
import { openClawDetector } from '../../packages/hub/src/agents/detect/openclaw.ts'
import { openClawKind } from '../../packages/hub/src/agents/openclaw/index.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import { waitUntil } from './openclaw-test-agent.ts'

function detect(words: readonly [string, ...string[]], token?: string): Promise<DetectorResult> {
  return openClawDetector.detect(words, {
    fetch,
    signal: AbortSignal.timeout(120_000),
    onProgress() {},
    cwd: '.',
    env: {},
    ...(token !== undefined ? { token: { value: token, reference: '${env:CLAW}' } } : {}),
  })
}

describe('the address of a gateway', () => {
  it('is detected by its first message, and the entry has no secret in it', async (t) => {
    const gateway = await openFakeGateway()
    t.after(() => gateway.close())
    for (const address of [gateway.url, `${gateway.url.replace('ws', 'http')}/`]) {
      const found = await detect([address], gateway.token)
      assert.deepEqual(found, { kind: 'openclaw', name: 'openclaw', entry: { url: gateway.url, token: '${env:CLAW}' } })
    }
    await waitUntil(() => gateway.connections() === 0, 'nothing to be left open')
  })

  it('is detected without a token, and the result names what is missing', async (t) => {
    const gateway = await openFakeGateway()
    t.after(() => gateway.close())
    const found = await detect([gateway.url])
    assert.ok('entry' in found)
    assert.deepEqual(found.entry, { url: gateway.url, token: '${env:OPENCLAW_TOKEN}' })
    assert.match(found.notes?.join() ?? '', /Set OPENCLAW_TOKEN/)
    assert.ok(openClawKind.schema.safeParse(found.entry).success)
  })

  it('is detected with a wrong token, and the result reports it', async (t) => {
    const gateway = await openFakeGateway()
    t.after(() => gateway.close())
    const found = await detect([gateway.url], 'wrong')
    assert.ok('entry' in found)
    assert.match(found.notes?.join() ?? '', /rejected the configured token/)
  })

  it('is not detected for other servers, closed ports or commands', async (t) => {
    const server = createServer((_, response) => void response.end('hello'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    for (const words of [[`http://127.0.0.1:${port}`], ['ws://127.0.0.1:1'], ['npx', 'agent']] as const) {
      const found = await detect(words)
      assert.ok('reasons' in found && found.reasons.length === 1, JSON.stringify(found))
    }
  })
})
