/** A machine of a person: an empty home folder, Node, npm, the commands `parley` and `a2a`, and terminals. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../free-port.ts'
import { npmEnvironment } from './install.ts'
import { installation } from './installation.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export interface Machine extends AsyncDisposable {
  readonly home: string
  /** Of its hub. */
  readonly url: string
  readonly port: number
  /** Writes files into a folder of the home folder, and returns its path. */
  folder(name: string, files?: Readonly<Record<string, string>>): Promise<string>
  /** One more terminal. */
  terminal(cwd: string, env?: Readonly<Record<string, string | undefined>>): Promise<Terminal>
}

export interface MachineOptions {
  /** Whether there is nothing but Node and npm. */
  readonly isEmpty?: boolean
}

export async function openMachine({ isEmpty = false }: MachineOptions = {}): Promise<Machine> {
  const { registry, prefix: shared } = await installation()
  const home = await mkdtemp(join(tmpdir(), 'parley-machine-'))
  const port = await freePort()
  const prefix = join(home, 'global')
  const npm = npmEnvironment({ registry, prefix, cache: join(home, '.npm') })
  const terminals: Terminal[] = []

  return {
    home,
    port,
    url: `http://127.0.0.1:${port}`,
    async folder(name, files = {}) {
      const folder = join(home, name)
      await mkdir(folder, { recursive: true })
      for (const [file, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, file)), { recursive: true })
        await writeFile(join(folder, file), content)
      }
      return folder
    },
    async terminal(cwd, env = {}) {
      const path = [join(prefix, 'bin'), ...(isEmpty ? [] : [join(shared, 'bin')]), npm.PATH].join(':')
      // A free port instead of 3000 for the hub and for servers of the templates, and none for gRPC.
      const own = { ...npm, PATH: path, HOME: home, PORT: String(port), GRPC_PORT: '', npm_config_yes: 'true', ...env }
      const terminal = await openTerminal({ cwd, env: own })
      terminals.push(terminal)
      return terminal
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(terminals.map((terminal) => terminal[Symbol.asyncDispose]()))
      // What a terminal started may still write while it ends.
      await rm(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
