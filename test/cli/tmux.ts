/** A terminal of tmux on a socket of its own: keys go in, and what its pane shows is read. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

const runFile = promisify(execFile)

export interface TmuxTerminal extends AsyncDisposable {
  /** Types a line and presses Enter. */
  type(line: string): Promise<void>
  /** The same; from now on the pane begins with this line after its prompt. */
  begin(line: string): Promise<void>
  /** Presses a key by its name in tmux: `C-c`. */
  press(key: string): Promise<void>
  /** Everything that the pane has shown, without wrapping. */
  pane(): Promise<string>
  /** Resolves with the pane once it matches. */
  until(pattern: RegExp): Promise<string>
}

export interface TmuxOptions {
  readonly program: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export async function openTmux({ program, cwd, env }: TmuxOptions): Promise<TmuxTerminal> {
  const socket = `parley-${randomUUID()}`
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await runFile(program, ['-L', socket, '-f', '/dev/null', ...args], { env: { ...env, TERM: 'xterm' } })).stdout
  await tmux('new-session', '-d', '-s', 'main', '-x', '120', '-y', '50', '-c', cwd, 'sh')
  await tmux('set-option', '-g', 'history-limit', '5000')
  let start = ''
  const pane = async (): Promise<string> => {
    const shown = await tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'main')
    const at = start === '' ? 0 : shown.lastIndexOf(start)
    return at === -1 ? '' : shown.slice(at)
  }
  const type = async (line: string): Promise<void> => {
    await tmux('send-keys', '-t', 'main', '-l', line)
    await tmux('send-keys', '-t', 'main', 'Enter')
  }
  const until = async (pattern: RegExp): Promise<string> => {
    const end = Date.now() + guardMs
    for (;;) {
      const shown = await pane()
      if (pattern.test(shown)) return shown
      if (Date.now() > end) throw new Error(`the terminal never showed ${pattern}:\n${shown}`)
      // tmux has no event for the content of a pane.
      await sleep(50)
    }
  }
  return {
    type,
    async begin(line) {
      start = `$ ${line}`
      await type(line)
    },
    press: async (key) => void (await tmux('send-keys', '-t', 'main', key)),
    pane,
    until,
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => {})
    },
  }
}
