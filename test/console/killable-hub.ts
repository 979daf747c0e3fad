/** A hub in a process of its own, with the console built from what is in the tree: to be killed, and started again where it was. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { stringify } from 'yaml'
import { adminKey } from '../admin/test-hub.ts'
import { newFolder } from '../hub/running-hub.ts'
import { builtConsole } from './built-console.ts'

export interface KillableHub {
  readonly url: string
  /** At once, as a power cut would; answers when it is gone. */
  kill(): Promise<void>
  /** Again, over the same data and at the same port; answers when it listens. */
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
