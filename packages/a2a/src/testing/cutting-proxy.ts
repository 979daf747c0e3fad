/**
 * A proxy that cuts every stream after so many events, in the middle of whatever it is, as bad networks and impatient
 * load balancers do. It passes bytes: what the two sides say to each other is none of its business.
 */
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface CuttingProxy {
  readonly url: string
  /** How many streams it has cut. */
  readonly cuts: number
  /** Connections that are open now. */
  readonly open: number
  close(): Promise<void>
}

export async function cuttingProxy(target: string, afterEvents: number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let cuts = 0
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    let events = 0
    const close = (): void => {
      near.destroy()
      far.destroy()
      sockets.delete(near)
    }
    sockets.add(near)
    for (const socket of [near, far]) socket.on('error', close).on('close', close)
    near.on('data', (bytes) => {
      // The next request on the same connection begins to count anew.
      events = 0
      far.write(bytes)
    })
    far.on('data', (bytes: Buffer) => {
      for (let at = bytes.indexOf('data: '); at >= 0; at = bytes.indexOf('data: ', at + 1)) {
        if (events++ < afterEvents) continue
        cuts += 1
        near.end(bytes.subarray(0, at + 8), close)
        far.removeAllListeners('data')
        return
      }
      near.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts
    },
    get open() {
      return sockets.size
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
