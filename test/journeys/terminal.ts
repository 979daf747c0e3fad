/**
 * A terminal: a shell in a pane of tmux, with keys that go in and a screen that is read. tmux runs in control mode, so that every
 * output is an event, and its server ends with this process.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually, guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { findOrInstall } from '../../scripts/debian.ts'

const folder = await findOrInstall('tmux')

export { guardMs }

/** Why no terminal can be opened on this machine. */
export const terminalSkipReason: string | false = folder === undefined ? 'tmux is not installed' : false

export interface Terminal extends AsyncDisposable {
  /** Runs a command to its end. Unless `status` is what it exits with, it fails. Returns what it printed. */
  run(command: string, status?: number): Promise<string>
  /** Runs a command again until what it prints matches: for a state that the hub reaches at its own pace. */
  runUntil(command: string, pattern: RegExp): Promise<string>
  /** Starts a command that keeps running. Resolves with what it printed when that matches. Fails if the command ends before. */
  start(command: string, until: ScreenTest): Promise<string>
  /** Stops what runs, if anything does, by Ctrl-C. Returns what the screen shows then. */
  interrupt(): Promise<string>
  /** Types a line and presses Enter. */
  type(line: string): Promise<void>
  /** The same on an empty screen. */
  begin(line: string): Promise<void>
  /** Presses a key by its name in tmux: `C-c`. */
  press(key: string): Promise<void>
  /** Everything since the screen was empty, without wrapping. */
  screen(): Promise<string>
  /** Resolves with the screen once it matches. */
  until(test: ScreenTest): Promise<string>
}

/** What a screen must contain. */
export type ScreenTest = RegExp | ((screen: string) => boolean)

export interface TerminalOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Of shell.rc. */
const prompt = /\{(\d+)\}\$ /g
const promptAtEnd = /\{(\d+)\}\$ *$/

export async function openTerminal({ cwd, env }: TerminalOptions): Promise<Terminal> {
  const tmux = spawn(
    join(folder ?? '', 'tmux'),
    // prettier-ignore
    ['-L', `parley-${randomUUID().slice(0, 8)}`, '-f', '/dev/null', '-C', 'start-server', ';', 'set-option', '-g', 'history-limit', '20000', ';',
      'set-option', '-g', 'destroy-unattached', 'on', ';', 'new-session', '-x', '120', '-y', '50', '-c', cwd, 'sh'],
    {
      env: {
        ...env,
        TMUX_TMPDIR: tmpdir(),
        TERM: 'xterm',
        LANG: 'C.UTF-8',
        ENV: join(import.meta.dirname, 'shell.rc'),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const exited = once(tmux, 'exit')
  let hasExited = false
  void exited.then(() => (hasExited = true))
  const answers: ((lines: readonly string[]) => void)[] = []
  const watchers = new Set<() => void>()
  let answer: string[] | undefined
  createInterface({ input: tmux.stdout }).on('line', (line) => {
    // `%begin <time> <number> 1`: the answer to a command of this process.
    if (/^%begin \d+ \d+ 1$/.test(line)) answer = []
    else if (answer !== undefined && /^%(end|error) \d+ \d+ 1$/.test(line)) {
      answers.shift()?.(answer)
      answer = undefined
    } else if (answer !== undefined) answer.push(line)
    else if (line.startsWith('%output')) for (const look of watchers) look()
  })

  const command = (line: string): Promise<string> => {
    if (hasExited) return Promise.resolve('')
    const { promise, resolve } = Promise.withResolvers<readonly string[]>()
    answers.push(resolve)
    tmux.stdin.write(`${line}\n`)
    return promise.then((lines) => lines.join('\n'))
  }
  const capture = async (): Promise<string> =>
    (await command('capture-pane -p -J -S -')).replace(/\s+$/, ' ').trimStart()

  /** Resolves with the screen once it passes. It is read after every output. */
  async function wait(passes: (screen: string) => boolean, what: string): Promise<string> {
    const passed = Promise.withResolvers<string>()
    let isReading = false
    let hasChanged = false
    const look = async (): Promise<void> => {
      hasChanged = true
      if (isReading) return
      isReading = true
      while (hasChanged) {
        hasChanged = false
        const screen = await capture()
        if (passes(screen)) passed.resolve(screen)
      }
      isReading = false
    }
    const giveUp = async (): Promise<void> =>
      passed.reject(new Error(`the terminal never showed ${what}:\n${await capture()}`))
    const watcher = (): void => void look().catch(passed.reject)
    watchers.add(watcher)
    const guard = setTimeout(() => void giveUp(), guardMs)
    watcher()
    return passed.promise.finally(() => {
      clearTimeout(guard)
      watchers.delete(watcher)
    })
  }

  const press = async (key: string): Promise<void> => void (await command(`send-keys ${key}`))
  const type = async (text: string): Promise<void> => {
    for (const line of text.split('\n')) {
      if (line !== '') await command(`send-keys -l -- '${line.replaceAll("'", `'"'"'`)}'`)
      await press('Enter')
    }
  }
  const begin = async (line: string): Promise<void> => {
    await wait((screen) => promptAtEnd.test(screen), 'a prompt')
    // The prompt is cleared, too.
    await command('send-keys -R')
    await command('clear-history')
    await type(line)
  }
  /** Before the echo of the line, an empty screen may still have the prompt. */
  const isEnded = (line: string, screen: string): boolean => screen.startsWith(line) && promptAtEnd.test(screen)
  /** What follows the echo of the command, when the prompt is back. */
  const ended = async (line: string, status: number): Promise<string> => {
    const screen = await wait((shown) => isEnded(line, shown), `the end of ${line}`)
    assert.equal(Number(promptAtEnd.exec(screen)?.[1]), status, `the exit status of:\n${screen}`)
    return screen
      .slice(line.length)
      .replace(promptAtEnd, '')
      .replace(/^\s*\n/, '')
  }
  const asShown = (screen: string): string => `$ ${screen.replaceAll(prompt, '$ ')}`
  await wait((screen) => promptAtEnd.test(screen), 'a prompt')

  const run = async (line: string, status = 0): Promise<string> => {
    await begin(line)
    return ended(line, status)
  }
  const passes = (test: ScreenTest, screen: string): boolean =>
    test instanceof RegExp ? test.test(screen) : test(screen)

  return {
    type,
    begin,
    press,
    screen: async () => asShown(await capture()),
    until: async (test) => asShown(await wait((screen) => passes(test, asShown(screen)), String(test))),
    run,
    async runUntil(line, pattern) {
      let printed = ''
      await eventually(
        async () => pattern.test((printed = await run(line))),
        () => `${line} to print ${pattern}:\n${printed}`,
      )
      return printed
    },
    async start(line, test) {
      await begin(line)
      const hasPassed = (screen: string): boolean => passes(test, screen.slice(line.length))
      const screen = await wait((shown) => hasPassed(shown) || isEnded(line, shown), String(test))
      assert.ok(hasPassed(screen), `it ended without ${String(test)}:\n${screen}`)
      return screen.slice(line.length)
    },
    async interrupt() {
      if (!promptAtEnd.test(await capture())) await press('C-c')
      return asShown(await wait((shown) => promptAtEnd.test(shown), 'a prompt after Ctrl-C'))
    },
    async [Symbol.asyncDispose]() {
      if (hasExited) return
      void command('kill-server')
      await exited
    },
  }
}
