/** A listener between a proxy and a hub that records what the proxy sends: the bytes of each connection. */
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after } from 'node:test'

export interface Tap {
  /** host:port */
  readonly address: string
  /** What the proxy sent since `clear`, one text for each connection. */
  readonly sent: readonly string[]
  clear(): void
  /** The heads of all requests. */
  heads(): readonly string[]
}

export async function openTap(port: number): Promise<Tap> {
  let sent: string[] = []
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const close = (): void => {
      near.destroy()
      far.destroy()
    }
    const record: { list: string[]; index: number } = { list: [], index: 0 }
    near.on('data', (bytes) => {
      // A connection that was open before `clear` counts again.
      if (record.list !== sent) Object.assign(record, { list: sent, index: sent.push('') - 1 })
      sent[record.index] += bytes.toString('latin1')
    })
    pipe(near, far, close)
    pipe(far, near, close)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => void server.close())
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent
    },
    clear() {
      sent = []
    },
    heads: () => sent.flatMap((text) => text.match(/^(GET|POST) [^\r]* HTTP\/1\.1\r\n(?:[^\r]+\r\n)*/gm) ?? []),
  }
}

function pipe(from: Socket, to: Socket, close: () => void): void {
  from.on('error', close).on('close', close)
  from.pipe(to)
}
