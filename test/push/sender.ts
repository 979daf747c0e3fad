/** The server that is killed: it counts slowly, and notifies its webhooks of every number. SQLite with full durability. */
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { counter, fastPushOptions } from './counter-agent.ts'

const [, , port = '0', file = './push.db'] = process.argv

const server = await serve({
  port: Number(port),
  store: sqliteStore({ file, durability: 'full' }),
  agents: { counter },
  push: fastPushOptions,
  log: { debug() {}, info() {}, warn: console.error, error: console.error },
})
process.send?.({ port: server.port })
