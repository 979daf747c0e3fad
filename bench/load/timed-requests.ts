/** Requests on one connection, one after the other: the time to the first piece of the body, and to the end. */
import { openConnection } from './connection.ts'

export interface RequestTime {
  readonly firstMs: number
  readonly endMs: number
}

export interface TimedConnection {
  /** Throws unless the response has the status 200 and contains `expected`. */
  send(request: string, expected: string): Promise<RequestTime>
  /** The body of the last response. */
  body(): string
  close(): void
}

export async function openTimedConnection(port: number): Promise<TimedConnection> {
  let body = ''
  let first = 0
  let done: PromiseWithResolvers<number> | undefined
  const listener = {
    piece(text: string) {
      if (body === '') first = performance.now()
      body += text
    },
    end: (status: number) => done?.resolve(status),
  }
  const connection = await openConnection(port, listener, (reason) => done?.reject(reason))
  return {
    async send(request, expected) {
      body = ''
      done = Promise.withResolvers<number>()
      const start = performance.now()
      connection.send(request)
      const status = await done.promise
      const end = performance.now()
      if (status !== 200 || !body.includes(expected)) throw new Error(`${status} ${body.slice(0, 1_000)}`)
      return { firstMs: first - start, endMs: end - start }
    },
    body: () => body,
    close: () => connection.close(),
  }
}
