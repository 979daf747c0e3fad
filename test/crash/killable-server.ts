/** A server that can be killed and restarted at the same port. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const serverProgram = new URL('server.ts', import.meta.url)

export interface KillableServer {
  readonly file: string
  url(): string
  start(): Promise<void>
  kill(): Promise<void>
  dispose(): Promise<void>
}

/** `program` is given the port, the file of its database and the arguments, and prints the port it listens on. */
export async function startKillableServer(args: readonly string[], program = serverProgram): Promise<KillableServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-crash-'))
  const file = join(folder, 'crash.db')
  let port = 0
  let child: ChildProcess | undefined
  return {
    file,
    url: () => `http://127.0.0.1:${port}`,
    async start() {
      child = fork(fileURLToPath(program), [String(port), file, ...args], {
        execArgv: ['--conditions=parley-source'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      const [message] = (await once(child, 'message')) as [{ port: number }]
      port = message.port
    },
    kill,
    async dispose() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }

  async function kill(): Promise<void> {
    if (child === undefined) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    child = undefined
  }
}
