/** Runs example programs, each in a separate process with an empty working folder. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const freePort = fileURLToPath(new URL('free-port-preload.ts', import.meta.url))

export interface Program extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  kill(): Promise<void>
}

/** Resolves when the program listens. */
export async function runProgram(
  file: string,
  env: Record<string, string> = {},
  inFolder?: string,
  args: readonly string[] = [],
): Promise<Program> {
  const folder = inFolder ?? (await mkdtemp(join(tmpdir(), 'parley-')))
  const child = fork(file, args, {
    cwd: folder,
    execArgv: ['--conditions=parley-source', '--import', freePort],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const output: string[] = []
  child.stdout?.on('data', (text: Buffer) => output.push(text.toString()))
  child.stderr?.on('data', (text: Buffer) => output.push(text.toString()))
  const port = await listening(child, output)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `http://127.0.0.1:${port}`,
    folder,
    kill,
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves with the output of the program when it has exited with 0. */
export async function runToEnd(file: string, ...preloaded: readonly string[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-'))
  try {
    const child = fork(file, [], {
      cwd: folder,
      execArgv: ['--conditions=parley-source', ...preloaded.flatMap((other) => ['--import', other])],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      timeout: guardMs,
    })
    const output: string[] = []
    const errors: string[] = []
    child.stdout?.on('data', (text: Buffer) => output.push(text.toString()))
    child.stderr?.on('data', (text: Buffer) => errors.push(text.toString()))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    if (code !== 0) throw new Error(`the program ended with ${code ?? signal}:\n${[...output, ...errors].join('')}`)
    return output.join('').trimEnd().split('\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function listening(child: ChildProcess, output: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}:\n${output.join('')}`)))
  })
}
