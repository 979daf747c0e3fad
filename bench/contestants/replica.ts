/** Our server as one of several, or alone: the same agents over PostgreSQL or SQLite, every commit on disk before a client sees it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type Agent, artifact } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { answer, chunkText } from '../workload.ts'
import { runContestant } from './child-process.ts'

export interface ReplicaLocation {
  /** A connection string, or the folder for a file of SQLite. */
  readonly database?: string
  readonly folder: string
}

const { database, folder } = JSON.parse(process.argv[2] ?? '{}') as ReplicaLocation

function openStore() {
  if (database === undefined) return sqliteStore(join(folder, 'tasks.db'))
  return postgresStore({
    pool: new pg.Pool({ connectionString: database, max: 10 }),
    listen: () => new pg.Client(database),
    masterKey: new Uint8Array(32),
    endPool: true,
  })
}

/** Milliseconds on the clock that all processes of a machine share, with their fraction. */
const clock = (): number => performance.timeOrigin + performance.now()

const agents = {
  async *task() {
    yield { state: 'TASK_STATE_WORKING' }
    yield artifact('answer', { text: answer })
  },

  async *stream({ text }) {
    const count = Number(text)
    yield { state: 'TASK_STATE_WORKING' }
    for (let index = 0; index < count; index++) yield chunkText(index)
  },

  /** `200 10`: reports the time two hundred times, ten milliseconds apart. */
  async *ticker({ text }) {
    const [count = 0, paceMs = 0] = text.split(' ').map(Number)
    yield { state: 'TASK_STATE_WORKING' }
    for (let index = 0; index < count; index++) {
      await sleep(paceMs)
      yield artifact('time', { text: `at ${clock()}.`, append: index > 0 })
    }
  },

  /** Runs and reports nothing. */
  async *waiter({ signal }) {
    yield { state: 'TASK_STATE_WORKING' }
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
} satisfies Record<string, Agent>

const server = await serve({
  port: 0,
  drainMs: 0,
  store: openStore(),
  agents,
  limits: { streamsPerCaller: 20_000, tasksPerCaller: 20_000 },
})
runContestant({ port: server.port, announce() {}, close: () => server.close() })
