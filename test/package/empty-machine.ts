/** A machine with only Node and npm: an empty home folder, and a shell whose npm uses the registry on loopback. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { NpmRegistry } from './npm-registry.ts'

export interface EmptyMachine {
  readonly home: string
  /** Runs a command to its end and returns its output. Fails if the command fails. */
  run(command: string, cwd: string): Promise<string>
  /** Starts a server. Resolves when it has printed its address. */
  startServer(command: string, cwd: string): Promise<StartedServer>
  /** Stops what still runs and removes the home folder. */
  close(): Promise<void>
}

export interface StartedServer {
  readonly url: string
  stop(): Promise<void>
}

type Shell = ChildProcessByStdio<null, Readable, Readable>

export async function createEmptyMachine(registry: NpmRegistry): Promise<EmptyMachine> {
  const home = await mkdtemp(join(tmpdir(), 'parley-machine-'))
  const shells: Shell[] = []

  function openShell(command: string, cwd: string): Shell {
    const env = {
      PATH: [join(home, 'global/bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: home,
      // Free ports instead of 3000 and 3001.
      PORT: '0',
      GRPC_PORT: '',
      npm_config_registry: registry.url,
      // Where `npm install --global` installs.
      npm_config_prefix: join(home, 'global'),
      npm_config_cache: join(home, '.npm'),
      npm_config_update_notifier: 'false',
    }
    const shell = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    shells.push(shell)
    return shell
  }

  return {
    home,
    async run(command, cwd) {
      const shell = openShell(command, cwd)
      const exited = once(shell, 'exit') as Promise<[number | null]>
      const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), exited])
      assert.equal(code, 0, `${command}\n${stdout}\n${stderr}\nnot in the registry: ${registry.missing.join(', ')}`)
      return stdout
    },
    async startServer(command, cwd) {
      const shell = openShell(command, cwd)
      return { url: await printedAddress(shell), stop: () => stop(shell) }
    },
    async close() {
      await Promise.all(shells.map(stop))
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function stop(shell: Shell): Promise<void> {
  if (shell.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return
  const exited = once(shell, 'exit')
  // npm starts a child of its own: all of them are ended together.
  process.kill(-shell.pid, 'SIGKILL')
  await exited
}

function printedAddress(shell: Shell): Promise<string> {
  const printed: string[] = []
  return new Promise((resolve, reject) => {
    for (const input of [shell.stdout, shell.stderr]) {
      createInterface({ input }).on('line', (line) => {
        printed.push(line)
        const [, url] = /listening on (http:\S+)/.exec(line) ?? []
        if (url !== undefined) resolve(url)
      })
    }
    shell.once('exit', () => reject(new Error(`the server ended:\n${printed.join('\n')}`)))
  })
}
