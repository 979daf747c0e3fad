#!/usr/bin/env node
/** The `parley` command. The only file that reads the environment. */
import { parseArgs } from 'node:util'
import { demoAgents, startHub } from '../hub.ts'
import { describeStore } from '../open-store.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Parley needs Node 24 or newer; this is ${process.versions.node}.`)
  process.exit(1)
}

/** Whatever still runs then: longer than a hub needs to drain and to give up a database that does not answer. */
const goneAfterMs = 30_000
const { PORT = '3000', BIND_HOST = '127.0.0.1', PARLEY_DATA: dataDir = './.parley' } = process.env
const { PARLEY_STORE = 'sqlite:', PARLEY_STORE_DIRECT: directStore, PARLEY_MASTER_KEY: masterKey } = process.env

try {
  const { values: flags } = parseArgs({ options: { store: { type: 'string' } } })
  const store = flags.store ?? PARLEY_STORE
  const hub = await startHub({ host: BIND_HOST, port: portOf(PORT), store, dataDir, directStore, masterKey })
  console.log(`Parley is listening on ${hub.url}\n`)
  for (const [name, { description }] of Object.entries(demoAgents)) {
    console.log(`  ${name.padEnd(10)} ${hub.url}/a2a/${name}  ${description}`)
  }
  const where = describeStore({ store, dataDir })
  console.log(`\nTasks are kept in ${where}. Stop with Ctrl-C: what runs goes on ${goesOn(store)}.`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(hub))
} catch (reason) {
  console.error(reason instanceof Error ? reason.message : reason)
  process.exit(1)
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

function goesOn(store: string): string {
  if (store === 'memory:') return 'no more'
  return store.startsWith('sqlite:') ? 'at the next start' : 'on another replica, or at the next start'
}

/** Who asks twice does not want to wait. */
function stop(hub: { close(): Promise<void> }): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  setTimeout(() => process.exit(1), goneAfterMs).unref()
  void hub.close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}
