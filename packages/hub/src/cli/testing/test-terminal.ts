/** A terminal for tests: it has the given environment and records its output. */
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { parseCommandLine } from '@parley/cli/internal'
import { flagsOf, type Flags, type Terminal } from '../command.ts'
import { program } from '../commands.ts'

export interface TestTerminal extends Terminal {
  readonly printed: readonly string[]
  readonly errors: readonly string[]
  /** What was written to stderr without a line break. */
  readonly progress: readonly string[]
  readonly input: PassThrough
  readonly output: PassThrough
  /** Simulates Ctrl-C. */
  shutDown(): void
  /** Simulates SIGHUP. */
  reload(): void
}

export function createTestTerminal(given: Partial<Pick<Terminal, 'environment' | 'cwd'>> = {}): TestTerminal {
  const said: string[] = []
  const complaints: string[] = []
  const progress: string[] = []
  const listeners: (() => void)[] = []
  const ended = Promise.withResolvers<void>()
  return {
    environment: {},
    cwd: tmpdir(),
    ...given,
    print: (text) => void said.push(...text.split('\n')),
    printData: (text) => void said.push(...text.split('\n')),
    printError: (text) => void complaints.push(text),
    writeError: (text) => void progress.push(text),
    isErrorTerminal: true,
    isOutputTerminal: false,
    input: new PassThrough(),
    output: new PassThrough(),
    untilShutdown: () => ended.promise,
    onReload: (listener) => void listeners.push(listener),
    printed: said,
    errors: complaints,
    progress,
    shutDown: ended.resolve,
    reload: () => listeners.forEach((listener) => listener()),
  }
}

/** The flags of a command line: `testFlags('key', 'list', '-o', 'json')`. */
export function testFlags(...words: readonly string[]): Flags {
  return flagsOf(parseCommandLine(words, program).args)
}
