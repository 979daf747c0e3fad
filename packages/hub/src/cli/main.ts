#!/usr/bin/env node
/** The `parley` command. The only file that reads the environment. */
import { demoAgents, startHub } from '../hub.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Parley needs Node 24 or newer; this is ${process.versions.node}.`)
  process.exit(1)
}

const { PORT = '3000', BIND_HOST = '127.0.0.1', PARLEY_DATA = './.parley' } = process.env

try {
  const hub = await startHub({ host: BIND_HOST, port: portOf(PORT), dataDir: PARLEY_DATA })
  console.log(`Parley is listening on ${hub.url}\n`)
  for (const [name, { description }] of Object.entries(demoAgents)) {
    console.log(`  ${name.padEnd(10)} ${hub.url}/a2a/${name}  ${description}`)
  }
  console.log(`\nTasks are kept in ${PARLEY_DATA}. Stop with Ctrl-C: what runs goes on at the next start.`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(hub))
} catch (reason) {
  console.error(reason instanceof Error ? reason.message : reason)
  process.exit(1)
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

async function stop(hub: { close(): Promise<void> }): Promise<void> {
  await hub.close()
  process.exit(0)
}
