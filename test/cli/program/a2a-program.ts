/**
 * Runs the program `a2a` as a shell does: a process of its own with an empty home folder, an empty working folder and an
 * environment that has nothing of the machine. Nothing here imports the program.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardMs } from '../outside-fixtures.ts'
import { builtProgram } from './built-program.ts'
import { readTextFields, valuesOf, type TextField } from './text-fields.ts'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Default: stdin is empty. */
  readonly stdin?: string
  /** Default: the folder of the sandbox. */
  readonly cwd?: string
}

export interface ProgramRun {
  readonly args: readonly string[]
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** The one JSON document of stdout. Throws if there is anything else. */
  json<T = Record<string, unknown>>(): T
  /** The objects of JSONL. Throws if a line is not one complete object. */
  lines<T = Record<string, unknown>>(): readonly T[]
  /** The fields of text output. */
  fields(): readonly TextField[]
  /** The values of a label of text output. */
  values(label: string): readonly string[]
}

export interface RunningProgram {
  readonly pid: number | undefined
  /** Resolves when the stream has text that matches. Rejects if the program ends without it. */
  waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>
  write(text: string): void
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<ProgramRun>
}

export interface Sandbox extends AsyncDisposable {
  readonly folder: string
  readonly home: string
  run(args: readonly string[], options?: RunOptions): Promise<ProgramRun>
  start(args: readonly string[], options?: RunOptions & { readonly keepInputOpen?: boolean }): Promise<RunningProgram>
  /** In a pseudo-terminal, with the program `script` of util-linux. Its stdout has everything that the terminal shows. */
  startInTerminal(args: readonly string[]): Promise<RunningProgram>
}

export async function createSandbox(): Promise<Sandbox> {
  const root = await mkdtemp(join(tmpdir(), 'a2a-cli-'))
  const [folder, home] = [join(root, 'work'), join(root, 'home')]
  await Promise.all([folder, home].map((each) => mkdir(each)))
  const children = new Set<ChildProcess>()

  async function start(
    args: readonly string[],
    {
      env = {},
      stdin = '',
      cwd = folder,
      keepInputOpen = false,
    }: RunOptions & { readonly keepInputOpen?: boolean } = {},
  ): Promise<RunningProgram> {
    const [command = '', ...before] = builtProgram()
    const child = spawn(command, [...before, ...args], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    children.add(child)
    return followProgram(child, args, keepInputOpen ? undefined : stdin, () => children.delete(child))
  }

  async function startInTerminal(args: readonly string[]): Promise<RunningProgram> {
    const words = [...builtProgram(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    const child = spawn('script', ['-qefc', words.join(' '), '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    children.add(child)
    return followProgram(child, args, undefined, () => children.delete(child))
  }

  return {
    folder,
    home,
    start,
    startInTerminal,
    run: async (args, options) => (await start(args, options)).ended,
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL')
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

export function followProgram(
  child: ChildProcess,
  args: readonly string[],
  stdin: string | undefined,
  onEnd: () => void = () => {},
): RunningProgram {
  const seen = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  let isOver = false
  const changed = (): void => {
    for (const check of [...waiting]) check()
  }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text
      changed()
    })
  child.stdin?.on('error', () => {})
  if (stdin !== undefined) child.stdin?.end(stdin)
  const guard = setTimeout(() => child.kill('SIGKILL'), guardMs)
  const ended = new Promise<ProgramRun>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(guard)
      isOver = true
      changed()
      onEnd()
      resolve(programRun(args, code, signal, seen.stdout, seen.stderr))
    })
  })
  return {
    pid: child.pid,
    write: (text) => void child.stdin?.write(text),
    kill: (signal) => void child.kill(signal),
    ended,
    waitFor: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = pattern.exec(seen[stream])
          if (found === null && !isOver) return
          waiting.delete(check)
          if (found !== null) return resolve(found)
          reject(
            new Error(`a2a ${args.join(' ')} ended without ${pattern} on ${stream}:\n${seen.stdout}${seen.stderr}`),
          )
        }
        waiting.add(check)
        check()
      }),
  }
}

function programRun(
  args: readonly string[],
  code: number | null,
  signal: string | null,
  stdout: string,
  stderr: string,
): ProgramRun {
  const fields = (): readonly TextField[] => readTextFields(stdout)
  return {
    args,
    code,
    signal,
    stdout,
    stderr,
    json: <T>() => JSON.parse(stdout) as T,
    lines: <T>() => {
      if (!stdout.endsWith('\n')) throw new Error(`the last line is not ended: ${stdout}`)
      return stdout
        .slice(0, -1)
        .split('\n')
        .map((line) => JSON.parse(line) as T)
    },
    fields,
    values: (label) => valuesOf(fields(), label),
  }
}
