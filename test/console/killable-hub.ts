/** A hub in a separate process, with the console built from the working tree, that tests kill and restart at the same port. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { stringify } from 'yaml'
import { adminKey } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { newFolder } from '../hub/running-hub.ts'
import { builtConsole } from './built-console.ts'

export interface KillableHub {
  readonly url: string
  /** Kills it at once; resolves when it has exited. */
  kill(): Promise<void>
  /** Restarts it with the same data and port; resolves when it listens. */
  start(): Promise<void>
}

const program = join(import.meta.dirname, 'killable-hub-program.ts')

export async function startKillableHub(agents: object): Promise<KillableHub> {
  const port = await freePort()
  const config = { listen: { port, grpcPort: false }, admin: { key: adminKey }, agents }
  const folder = await newFolder({ 'parley.yaml': stringify(config) })
  const files = await builtConsole()
  let gone: () => Promise<void> = () => Promise.resolve()

  async function start(): Promise<void> {
    const child = spawn(process.execPath, ['--conditions=parley-source', program, folder, files.href], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const closed = once(child, 'close')
    gone = async () => {
      child.kill('SIGKILL')
      await closed
    }
    for await (const line of createInterface({ input: child.stdout })) if (line === 'listening') return
    throw new Error('the hub ended before it listened')
  }
  await start()
  after(() => gone())
  return { url: `http://127.0.0.1:${port}`, kill: () => gone(), start }
}
