/** A connection to a gateway that can be cut without notice to either end. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface WebSocketProxy {
  readonly url: string
  cut(): void
  /** When cut, no connection passes until it is opened again. */
  block(): void
  unblock(): void
  close(): void
}

export async function openWebSocketProxy(url: string): Promise<WebSocketProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isBlocked = false
  const server = createServer((near) => {
    if (isBlocked) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => sockets.forEach((socket) => socket.destroy())
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    block() {
      isBlocked = true
      cut()
    },
    unblock() {
      isBlocked = false
    },
    close() {
      server.close()
      cut()
    },
  }
}
