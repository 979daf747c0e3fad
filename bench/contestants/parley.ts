/** Our SDK as `serve()` sets it up. By default SQLite, every commit on disk before a client sees it. */
import { join } from 'node:path'
import { memoryStore } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { serve } from '@parley/a2a/node'
import { agents } from './bench-agents.ts'
import { announcementFeed, readSettings, runContestant, sharedClock } from './child-process.ts'

const { directory, settings } = readSettings()
const { store = 'sqlite', database, grpc, push } = settings

// What is not used is not loaded: the time of the start is measured.
async function openStore(): Promise<FullStore> {
  if (store === 'memory') return memoryStore()
  if (store !== 'postgres') {
    const { sqliteStore } = await import('@parley/a2a/stores/sqlite')
    return sqliteStore({ file: join(directory, 'tasks.db'), durability: store === 'sqlite' ? 'full' : 'normal' })
  }
  const { postgresStore } = await import('@parley/a2a/stores/postgres')
  const { Client, Pool } = (await import('pg')).default
  return postgresStore({
    pool: new Pool({ connectionString: database, max: 10 }),
    listen: () => new Client(database),
    masterKey: new Uint8Array(32),
    endPool: true,
  })
}

let appendedAt = 0

/** Takes the time of each append: from then on an event may be sent. */
function timeAppends(opened: FullStore): FullStore {
  const append = opened.tasks.append.bind(opened.tasks)
  opened.tasks.append = async (...args) => {
    const result = await append(...args)
    appendedAt = sharedClock()
    return result
  }
  return opened
}

const server = await serve({
  port: 0,
  quiet: true,
  drainMs: 0,
  ...(grpc ? { grpcPort: 0, agents: { stream: agents.stream } } : { agents }),
  ...(push && { push: { allow: ['127.0.0.1'] } }),
  limits: { streamsPerCaller: 20_000, tasksPerCaller: 20_000 },
  store: settings.timesAppends ? timeAppends(await openStore()) : await openStore(),
})
runContestant({
  port: server.port,
  grpcPort: server.grpcPort,
  announce: announcementFeed.publish,
  ...(settings.timesAppends && { appendedAt: () => appendedAt }),
  close: () => server.close(),
})
