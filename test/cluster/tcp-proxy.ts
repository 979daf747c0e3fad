/**
 * The connection of one replica to its database, which can be broken: `cut` closes open connections and refuses new ones, as a firewall
 * that rejects; `silent` accepts everything and forwards nothing in either direction, as one that drops. It can also be pointed
 * at another server, as the address of a managed database is after a failover.
 */
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export type ProxyState = 'open' | 'cut' | 'silent'

export interface ProxyTarget {
  readonly host: string
  readonly port: number
}

export interface TcpProxy {
  readonly port: number
  set(state: ProxyState): void
  /** Breaks open connections; new ones go to the other server. */
  leadTo(address: ProxyTarget): void
  close(): Promise<void>
}

export async function openTcpProxy(address: ProxyTarget): Promise<TcpProxy> {
  let target = address
  const pairs = new Set<readonly [Socket, Socket]>()
  let state: ProxyState = 'open'

  const server = createServer((near) => {
    if (state === 'cut') {
      near.resetAndDestroy()
      return
    }
    const far = connect(target.port, target.host)
    const pair = [near, far] as const
    pairs.add(pair)
    const close = (): void => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const [from, to] of [pair, [far, near] as const]) {
      from.setNoDelay(true)
      from.on('error', close).on('close', close)
      from.on('data', (bytes) => {
        if (!to.write(bytes)) from.pause()
      })
      to.on('drain', () => {
        if (state === 'open') from.resume()
      })
    }
    if (state === 'silent') hush(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  /** Sent bytes are delayed, not lost, as on a network that recovers. */
  function hush([near, far]: readonly [Socket, Socket]): void {
    near.pause()
    far.pause()
  }

  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      state = next
      for (const pair of pairs) {
        if (next === 'silent') hush(pair)
        else if (next === 'open') for (const socket of pair) socket.resume()
        else for (const socket of pair) socket.resetAndDestroy()
      }
    },
    leadTo(next) {
      target = next
      for (const socket of [...pairs].flat()) socket.resetAndDestroy()
    },
    async close() {
      for (const socket of [...pairs].flat()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
