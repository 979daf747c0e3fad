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
/** Nothing in it switches gRPC off; whoever takes any port takes any for both. */
const { GRPC_PORT = PORT === '0' ? '0' : '3001' } = process.env
const { PARLEY_STORE = 'sqlite:', PARLEY_STORE_DIRECT: directStore, PARLEY_MASTER_KEY: masterKey } = process.env

try {
  const { values: flags } = parseArgs({ options: { store: { type: 'string' } } })
  const store = flags.store ?? PARLEY_STORE
  const port = portOf('PORT', PORT)
  const grpcPort = GRPC_PORT === '' ? undefined : portOf('GRPC_PORT', GRPC_PORT)
  const hub = await startHub({ host: BIND_HOST, port, grpcPort, store, dataDir, directStore, masterKey })
  console.log(`Parley is listening on ${hub.url}`)
  if (hub.grpcPort !== undefined) console.log(`It speaks gRPC on port ${hub.grpcPort}`)
  console.log()
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

function portOf(name: string, text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`${name} must be a number from 0 to 65535, not ${JSON.stringify(text)}.`)
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
