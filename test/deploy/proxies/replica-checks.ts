/** Several hubs behind a proxy: requests go to those that work. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freePort } from '../../free-port.ts'
import { answeringHub } from './proxied.ts'
import type { Proxied } from './proxied.ts'

/** Each request comes from an address of its own: the other hub has a limit per address. */
let caller = 10
const nextHub = (world: Proxied): Promise<string> => answeringHub(world, '--interface', `127.0.1.${(caller += 1)}`)

async function hubsOf(world: Proxied, requests: number): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (let n = 0; n < requests; n += 1) names.add(await nextHub(world))
  return names
}

export function checkReplicas(proxied: () => Proxied): void {
  it('sends requests to the replicas that answer, and to the others again when they are back', async () => {
    const world = proxied()
    const { hub, otherHub } = world
    const dead = `127.0.0.1:${await freePort()}`
    await world.proxy.reload({ http: [hub.http, otherHub.http, dead], grpc: [hub.grpc, otherHub.grpc, dead] })
    // Every one of these requests is answered, also while one of the three was never started.
    while ((await nextHub(world)) !== 'one');
    while ((await nextHub(world)) !== 'two');
    await otherHub.kill()
    assert.deepEqual(await hubsOf(world, 10), new Set(['one']))
    await otherHub.start()
    while ((await nextHub(world)) !== 'two');
  })
}

/** Only proxies that ask /readyz notice a hub that accepts connections and does not answer. */
export function checkActiveHealth(proxied: () => Proxied, unhealthy: (address: string) => RegExp): void {
  it('sends no request to a replica that accepts connections and does not answer', async () => {
    const world = proxied()
    const { otherHub, proxy } = world
    const from = proxy.lines.length
    otherHub.signal('SIGSTOP')
    try {
      await proxy.waitForLine(unhealthy(otherHub.http), from)
      assert.deepEqual(await hubsOf(world, 10), new Set(['one']))
    } finally {
      otherHub.signal('SIGCONT')
    }
    while ((await nextHub(world)) !== 'two');
  })
}
