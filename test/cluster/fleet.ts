/** Replicas as processes, which can be killed, paused, terminated and restarted. Each has its own connection to the database. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { masterKey } from '../postgres/databases.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import type { TcpProxy } from './tcp-proxy.ts'
import type { ReplicaSettings } from './replica.ts'

export interface Replica {
  readonly name: string
  readonly url: string
  readonly port: number
  readonly databaseProxy: TcpProxy
  /** With `nextStep`, the SQL of one more migration step, as the next version. */
  start(nextStep?: string): Promise<void>
  /** Resolves when the process has exited. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves with the exit code and the time it took. */
  retire(): Promise<{ readonly code: number | null; readonly ms: number }>
  pause(): void
  resume(): void
}

export interface Fleet {
  readonly replicas: readonly Replica[]
  readonly urls: readonly string[]
  close(): Promise<void>
}

export interface FleetOptions {
  readonly size: number
  readonly database: { readonly host: string; readonly port: number; readonly name: string }
  /** Omitted: the default. */
  readonly leaseTtlMs?: number
  readonly drainMs?: number
  /** The server of jobs that outlive a replica. */
  readonly jobs?: string
}

export async function startFleet({ size, database, drainMs = 5_000, ...rest }: FleetOptions): Promise<Fleet> {
  const replicas = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const line = await openTcpProxy(database)
      const url = `postgres://postgres@127.0.0.1:${line.port}/${database.name}`
      // The same port after a restart: the balancer needs no update.
      const port = await freePort()
      return createReplica(line, {
        name: `replica-${index + 1}`,
        port,
        database: url,
        masterKey: masterKey.toString('base64'),
        drainMs,
        ...rest,
      })
    }),
  )
  const fleet: Fleet = {
    replicas,
    urls: replicas.map(({ url }) => url),
    async close() {
      await Promise.all(replicas.map((replica) => replica.kill()))
      await Promise.all(replicas.map(({ databaseProxy }) => databaseProxy.close()))
    },
  }
  try {
    await Promise.all(replicas.map((replica) => replica.start()))
    return fleet
  } catch (reason) {
    await fleet.close()
    throw reason
  }
}

function createReplica(line: TcpProxy, settings: ReplicaSettings): Replica {
  const { name, port } = settings
  let child: ChildProcess | undefined

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const dying = child
    if (dying === undefined) return null
    const exited = dying.exitCode !== null || dying.signalCode !== null ? undefined : once(dying, 'exit')
    dying.kill(signal)
    await exited
    if (child === dying) child = undefined
    return dying.exitCode
  }

  return {
    name,
    port,
    url: `http://127.0.0.1:${port}`,
    databaseProxy: line,
    async start(nextStep) {
      const starting = fork(join(import.meta.dirname, 'replica.ts'), [JSON.stringify({ ...settings, nextStep })], {
        execArgv: ['--conditions=parley-source'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      child = starting
      await Promise.race([
        once(starting, 'message'),
        once(starting, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${String(code)}`))),
      ])
    },
    kill: async () => void (await end('SIGKILL')),
    async retire() {
      const startedAt = performance.now()
      const code = await end('SIGTERM')
      return { code, ms: performance.now() - startedAt }
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  }
}
