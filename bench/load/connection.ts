/** One keep-alive connection with one request on it at a time. */
import { connect, type Socket } from 'node:net'
import { type ResponseListener, responseReader } from './response.ts'

export interface Connection {
  /** Writes a request. The listener passed at opening receives the response. */
  send(request: string): void
  close(): void
}

export function openConnection(
  port: number,
  listener: ResponseListener,
  fail: (reason: Error) => void,
  readBytes = 65_536,
): Promise<Connection> {
  const read = responseReader(listener)
  return new Promise((resolve, reject) => {
    let closing = false
    const onData = (size: number, buffer: Uint8Array): boolean => {
      try {
        read((buffer as Buffer).toString('latin1', 0, size))
      } catch (reason) {
        fail(reason as Error)
        socket.destroy()
      }
      return true
    }
    // One buffer for the life of the socket: without it every read allocates 64 kB.
    const socket: Socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafeSlow(readBytes), callback: onData },
    })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', fail)
      socket.on('close', () => closing || fail(new Error('the server closed a connection')))
      resolve({
        send: (request) => void socket.write(request, 'latin1'),
        close() {
          closing = true
          socket.destroy()
        },
      })
    })
  })
}

/** For untimed requests: one request on a separate connection; returns the whole body. */
export async function ask(port: number, request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let body = ''
  const connection = await openConnection(port, { piece: (text) => (body += text), end: () => resolve(body) }, reject)
  connection.send(request)
  try {
    return await promise
  } finally {
    connection.close()
  }
}
