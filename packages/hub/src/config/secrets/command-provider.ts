/** A provider that runs a program for each secret, such as the command line of a secret manager. The program prints the value. */
import { execFile } from 'node:child_process'
import { maxSecretBytes, type SecretProvider, type SecretResult, secretText } from './secret-provider.ts'

export interface CommandProviderOptions {
  readonly command: readonly string[]
  readonly cwd: string
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>
  /** Whether errors quote what the program wrote to stderr. Default: true. */
  readonly quotesStderr?: boolean | undefined
}

interface CommandFailure {
  readonly code?: number | string | null
  readonly killed?: boolean
  readonly signal?: string | null
  readonly stderr?: string | Buffer
}

const maxShownError = 200
/** A program may ignore SIGTERM. */
const killSignal = 'SIGKILL' as const

export function commandProvider({ command, cwd, env, quotesStderr = true }: CommandProviderOptions): SecretProvider {
  return {
    async read(name, signal) {
      const [program = '', ...args] = argumentsFor(command, name)
      const output = await new Promise<Buffer>((resolve, reject) => {
        const options = { cwd, env: { ...env }, encoding: 'buffer' as const, maxBuffer: maxSecretBytes + 1, killSignal }
        const child = execFile(program, args, options, (error, stdout, stderr) => {
          signal.removeEventListener('abort', stop)
          if (error === null) resolve(stdout)
          else reject(new Error(failureText(program, Object.assign(error, { stderr: quotesStderr ? stderr : '' }))))
        })
        // Not the option `signal` of Node, which always sends SIGTERM. A process that the program started may keep its output open.
        function stop(): void {
          child.kill(killSignal)
          reject(new Error(failureText(program, { killed: true })))
        }
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop, { once: true })
        child.stdin?.end()
      })
      return requireText(program, secretText(output))
    },
  }
}

/** The name is one argument, whatever it contains: no shell reads it. */
function argumentsFor(command: readonly string[], name: string): readonly string[] {
  const [program = '', ...args] = command
  return [program, ...args.map((word) => word.replaceAll('{name}', () => name))]
}

function requireText(program: string, result: SecretResult): string {
  if ('value' in result) return result.value
  throw new Error(`the output of ${program} ${result.problem}`)
}

function failureText(program: string, { code, signal, killed, stderr }: CommandFailure): string {
  if (code === 'ENOENT') return `${program} was not found`
  if (code === 'ABORT_ERR' || code === 'ETIMEDOUT' || killed === true) return `${program} did not end in time`
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' || code === 'ENOBUFS')
    return `the output of ${program} is larger than ${maxSecretBytes} bytes`
  const line =
    String(stderr ?? '')
      .trim()
      .split('\n')
      .at(-1)
      ?.slice(0, maxShownError) ?? ''
  return `${program} failed with ${signal ?? code}${line === '' ? '' : `: ${line}`}`
}
