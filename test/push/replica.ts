/** One of several servers on PostgreSQL that are killed. Its notifications name it. */
import pg from 'pg'
import { guardedWebhooks, serve } from '@parley/a2a/node'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { counter, fastPushOptions } from './counter-agent.ts'

export interface ReplicaSettings {
  readonly name: string
  readonly port: number
  readonly database: string
  /** Base64. */
  readonly masterKey: string
}

const { name, port, database, masterKey } = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings
const { fetch } = guardedWebhooks(fastPushOptions)

const server = await serve({
  port,
  store: postgresStore({
    pool: new pg.Pool({ connectionString: database, max: 6 }),
    listen: () => new pg.Client(database),
    masterKey,
    leaseTtlMs: 2_000,
    endPool: true,
  }),
  agents: { counter },
  push: {
    ...fastPushOptions,
    fetch(request) {
      request.headers.set('x-server', name)
      return fetch(request)
    },
  },
  log: { debug() {}, info() {}, warn() {}, error: console.error },
})
// The parent process has exited.
process.once('disconnect', () => process.exit(1))
process.send?.({ port: server.port })
