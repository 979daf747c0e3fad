/** Streams through a proxy: event by event, and each event once across restarts of the hub and of the proxy. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { connect } from '@parley/a2a/client'
import type { StreamEvent } from '@parley/a2a'
import { grpc } from '@parley/a2a/grpc'
import { messageTo } from './proxied.ts'
import type { Proxied } from './proxied.ts'

const number = (n: number): RegExp => new RegExp(`"text":\\s*"${n} "`)
const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/"text":\s*"(\d+) "/g)].map(([, n]) => Number(n))
/** A client that does not give up while the test restarts something. */
const limits = { attempts: 200, maxDelayMs: 500 }

/** The numbers of the agent `gate`, as a client of the SDK receives them. */
function numbersOf(event: StreamEvent): readonly number[] {
  const parts = 'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []
  return parts.flatMap((part) => ('text' in part ? part.text.trim().split(/\s+/).map(Number) : []))
}

export function checkStreams(proxied: () => Proxied): void {
  for (const version of ['--http1.1', '--http2']) {
    it(`forwards every event before the next one exists (curl ${version})`, async () => {
      const { hub, openStream } = proxied()
      const name = `order${version}`
      const stream = openStream(version, ...messageTo(proxied(), 'gate', `${name} 3`, 'message:stream'))
      for (let n = 0; n < 3; n += 1) {
        // The agent says the next number only after this one has arrived: if the proxy buffers, curl gives up.
        hub.allow(name, n)
        await stream.waitFor(number(n))
      }
      assert.equal(await stream.ended(), 0)
      assert.match(stream.text(), /TASK_STATE_COMPLETED/)
    })
  }

  it('lets a client resume after kill -9 of the hub and of the proxy: each event once', async () => {
    const world = proxied()
    const agent = await connect(`${world.url}/a2a/gate`, { fetch: world.fetch, limits })
    const received: number[] = []
    world.hub.allow('resume', 0)
    for await (const event of agent.stream('resume 3')) {
      for (const n of numbersOf(event)) {
        received.push(n)
        if (n === 0) {
          await world.hub.kill()
          await world.hub.start()
          world.hub.allow('resume', 1)
        }
        if (n === 1) {
          await world.proxy.kill()
          await world.startProxy()
          world.hub.allow('resume', 2)
        }
      }
    }
    assert.deepEqual(received, [0, 1, 2])
  })

  it('passes Last-Event-ID on: curl receives what it missed and nothing twice', async () => {
    const world = proxied()
    const first = world.openStream(...messageTo(world, 'gate', 'missed 2', 'message:stream'))
    world.hub.allow('missed', 0)
    await first.waitFor(number(0))
    await world.proxy.kill()
    assert.notEqual(await first.ended(), 0)
    // The agent goes on while no client is connected.
    world.hub.allow('missed', 1)
    await world.startProxy()
    const id = /"taskId":"([^"]+)"/.exec(first.text())?.[1]
    const last = [...first.text().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]
    const headers = ['-H', `Last-Event-ID: ${last}`, '-H', 'A2A-Version: 1.0']
    const rest = await world.curl('-N', `${world.url}/a2a/gate/tasks/${id}:subscribe`, ...headers)
    assert.deepEqual(numbersIn(rest), [1])
    const ids = [...rest.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
    assert.equal(ids[0], Number(last) + 1)
    assert.match(rest, /TASK_STATE_COMPLETED/)
  })

  it('keeps streams open while it loads its configuration again', async () => {
    const world = proxied()
    const stream = world.openStream(...messageTo(world, 'gate', 'reload 2', 'message:stream'))
    world.hub.allow('reload', 0)
    await stream.waitFor(number(0))
    await world.proxy.reload(world.oneHub)
    // New connections are answered as well.
    for (const version of ['--http1.1', '--http2'])
      assert.match(await world.curl(version, ...messageTo(world, 'whoami', 'x')), /one received 1 characters/)
    world.hub.allow('reload', 1)
    await stream.waitFor(number(1))
    assert.equal(await stream.ended(), 0)
  })

  it('passes gRPC on over TLS: calls, and streams event by event', async () => {
    const world = proxied()
    const binding = grpc({ tls: { ca: world.ca } })
    try {
      const options = { fetch: world.fetch, bindings: [binding], prefer: ['GRPC'], limits }
      world.grpcTap.clear()
      world.tap.clear()
      const whoami = await connect(`${world.url}/a2a/whoami`, options)
      assert.match(JSON.stringify(await whoami.send('four')), /one received 4 characters/)
      const gate = await connect(`${world.url}/a2a/gate`, options)
      const received: number[] = []
      world.hub.allow('grpc', 0)
      for await (const event of gate.stream('grpc 3')) {
        received.push(...numbersOf(event))
        world.hub.allow('grpc', received.length)
      }
      assert.deepEqual(received, [0, 1, 2])
      assert.ok(world.grpcTap.sent.some((text) => text.includes('PRI * HTTP/2.0')))
      assert.deepEqual(
        world.tap.heads().filter((head) => head.startsWith('POST')),
        [],
        'a call went over HTTP instead',
      )
    } finally {
      binding.close()
    }
  })
}
