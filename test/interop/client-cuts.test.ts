/** Published servers have no cursors and do not resend missed events: our client still loses nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import { disconnectingProxy } from '../../packages/a2a/src/testing/fixtures/disconnecting-proxy.ts'
import type { DisconnectingProxy } from '../../packages/a2a/src/testing/fixtures/disconnecting-proxy.ts'
import { bindings } from './client/peer.ts'
import type { Peer, PeerKind } from './client/peer.ts'
import { sdk02 } from './client/sdk-0.2-server.ts'
import { sdk03 } from './client/sdk-0.3-server.ts'
import { sdk1 } from './client/sdk-1-server.ts'

const words = Array.from({ length: 30 }, (_, index) => `word${index}`)
const limits = { firstDelayMs: 1, maxDelayMs: 20, pollMs: 10 }

function cutAfter(events: number, kind: PeerKind): void {
  describe(`${kind.name} whose streams are cut after ${events} events`, () => {
    let peer: Peer
    let proxy: DisconnectingProxy
    let agent: RemoteAgent
    before(async () => {
      peer = await kind.open()
      proxy = await disconnectingProxy(new URL(peer.url).origin, events)
      const { origin } = new URL(peer.url)
      const through = (request: Request) => fetch(new Request(request.url.replace(origin, proxy.url), request))
      agent = await connect(peer.url, { ...kind.options, limits, fetch: through })
    })
    after(async () => {
      await proxy.close()
      await peer.close()
    })

    it('delivers a whole answer once, with its final state [B-98]', async () => {
      const stream = agent.stream(`say ${words.join(' ')}`)
      const texts = await Array.fromAsync(stream.text())
      assert.equal(texts.join(''), words.map((word) => `${word} `).join(''))
      const result = await stream.result()
      assert.equal(result.kind === 'task' && result.status.state, 'TASK_STATE_COMPLETED')
      assert.ok(proxy.disconnects > 0)
    })

    it('continues with a running task [B-98 B-105]', async () => {
      const cuts = proxy.disconnects
      const name = crypto.randomUUID()
      const texts: string[] = []
      for await (const text of agent.stream(`hold ${name}`).text()) {
        if (texts.push(text) === 1) peer.release(name)
      }
      assert.deepEqual(texts, ['held ', 'released'])
      assert.ok(proxy.disconnects > cuts)
    })
  })
}

for (const events of [1, 2, 3]) {
  // The proxy counts events by SSE frames; the tests of the gRPC binding cut its streams.
  for (const binding of bindings.filter((name) => name !== 'GRPC')) {
    cutAfter(events, sdk1('1.0', binding))
    cutAfter(events, sdk1('0.3', binding))
    cutAfter(events, sdk03(binding))
  }
  cutAfter(events, sdk02)
}
