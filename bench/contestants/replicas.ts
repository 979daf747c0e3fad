/** Starts replicas on a separate database, each in a separate process. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Usage } from './child-process.ts'
import { waitForMessage } from './contestant.ts'

export interface Replica {
  readonly port: number
  usage(collect?: boolean): Promise<Usage>
  close(): Promise<void>
}

const dataRoot = join(import.meta.dirname, '../.parley')

/** Without a database they use SQLite. */
export async function startReplica(database?: string): Promise<Replica> {
  mkdirSync(dataRoot, { recursive: true })
  const folder = mkdtempSync(join(dataRoot, 'replica-'))
  const place = { folder, ...(database === undefined ? {} : { database }) }
  const child = fork(join(import.meta.dirname, 'replica.ts'), [JSON.stringify(place)], {
    execArgv: ['--conditions=parley-source', '--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const { port } = await waitForMessage(child, 'port')
  return {
    port,
    async usage(collect = false) {
      const usage = waitForMessage(child, 'usage')
      child.send({ order: 'usage', collect })
      return (await usage).usage
    },
    async close() {
      const exited = once(child, 'exit')
      child.send({ order: 'close' })
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}
