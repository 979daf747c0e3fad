/** Our server as `serve()` sets it up: SQLite, every commit on disk before a client sees it. */
import { join } from 'node:path'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { agents } from './bench-agents.ts'
import { announcementFeed, runContestant } from './child-process.ts'

const directory = process.argv[2] ?? '.'

const server = await serve({ port: 0, store: sqliteStore(join(directory, 'tasks.db')), agents })
runContestant({
  port: Number(new URL(server.url).port),
  announce: announcementFeed.publish,
  close: () => server.close(),
})
