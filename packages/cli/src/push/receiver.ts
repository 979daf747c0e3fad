/** A receiver of push notifications on this machine: a listener with the webhook of the SDK. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { webhook, type Delivery } from '@parley/a2a/server'
import { listenError } from '../output/cli-error.ts'
import type { Output } from '../output/output.ts'

export interface ReceiverOptions {
  readonly port: number
  readonly host: string
  /** Notifications without it are refused. Default: every notification is accepted. */
  readonly token: string | undefined
  /** The only task whose notifications are accepted. Default: any. */
  readonly taskId: string | undefined
  readonly output: Output
  /** The sender gets 2xx when it resolves. */
  handle(delivery: Delivery): Promise<void>
}

export interface Receiver {
  /** Where it listens: `http://127.0.0.1:4000/`. */
  readonly url: string
  close(): Promise<void>
}

/** How long open requests may take when the receiver closes. */
const closeMs = 1_000

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { port, host, token, taskId, output, handle } = options
  const warnWithReason = (text: string, about: Readonly<Record<string, unknown>> = {}): void => {
    const { reason } = about
    output.warn(typeof reason === 'string' ? `${text}: ${reason}` : text)
  }
  const hook = webhook({
    ...(token === undefined ? { unverified: true } : { token }),
    ...(taskId === undefined ? {} : { expects: (id: string) => id === taskId }),
    answerChallenges: true,
    log: {
      debug: (text) => output.debug(text),
      info: (text) => output.debug(text),
      warn: warnWithReason,
      error: warnWithReason,
    },
  })
  hook.handle(handle)
  const server = createServer(hook.node)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw listenError(cause, `${host}:${port}`, '--port')
  }
  const { port: opened } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${opened}/`,
    close: () =>
      new Promise((resolve) => {
        // A sender that never finishes its request must not keep the program.
        const timer = setTimeout(() => server.closeAllConnections(), closeMs)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
