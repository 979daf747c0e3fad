/** As many requests as a server can answer, on a fixed number of connections, for a given time. */
import { type Connection, openConnection } from './connection.ts'

/** Checks the responses of one connection and throws at the first wrong one. */
export interface ResponseCheck {
  piece(text: string): void
  end(status: number): void
}

export interface LoadRound {
  readonly completed: number
  readonly perSecond: number
  /** The share of one core that this process used: near 1, the load generator is the limit. */
  readonly loadShare: number
}

export interface Load {
  run(durationMs: number): Promise<LoadRound>
  close(): void
}

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  nextRequest(): string
  createCheck(): ResponseCheck
}

/** Opens the connections; each `run` keeps all of them busy, with never more than one request on each. */
export async function openLoad({ port, connections, nextRequest, createCheck }: LoadOptions): Promise<Load> {
  let completed = 0
  let busy = 0
  let running = false
  let settle: { resolve(): void; reject(reason: Error): void } | undefined
  /** A connection that was closed between two runs would never respond in the next. */
  let broken: Error | undefined

  async function open(): Promise<Connection> {
    const { piece, end } = createCheck()
    let isIdle = true
    const fail = (reason: Error): void => {
      broken ??= reason
      // A connection that has ended its last request may be closed while slower ones still wait for theirs.
      if (running || !isIdle) settle?.reject(reason)
    }
    const connection: Connection = await openConnection(
      port,
      {
        piece,
        end(status) {
          end(status)
          completed += 1
          if (running) return connection.send(nextRequest())
          isIdle = true
          if (--busy === 0) settle?.resolve()
        },
      },
      fail,
    )
    return {
      send(request) {
        isIdle = false
        connection.send(request)
      },
      close: () => connection.close(),
    }
  }

  const opened = await Promise.all(Array.from({ length: connections }, open))

  return {
    async run(durationMs) {
      if (broken !== undefined) throw broken
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      settle = { resolve, reject }
      completed = 0
      busy = connections
      running = true
      const cpu = process.cpuUsage()
      const start = performance.now()
      for (const connection of opened) connection.send(nextRequest())
      const timer = setTimeout(() => (running = false), durationMs)
      await promise.finally(() => clearTimeout(timer))
      const elapsedMs = performance.now() - start
      const { user, system } = process.cpuUsage(cpu)
      return {
        completed,
        perSecond: (completed * 1000) / elapsedMs,
        loadShare: (user + system) / 1000 / elapsedMs,
      }
    },
    close: () => opened.forEach((connection) => connection.close()),
  }
}
