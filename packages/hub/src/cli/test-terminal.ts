/** A terminal for tests: it has the environment that it is given and remembers what it was told. */
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import type { Terminal } from './command.ts'

export interface TestTerminal extends Terminal {
  readonly said: readonly string[]
  readonly complaints: readonly string[]
  readonly input: PassThrough
  readonly output: PassThrough
  /** As Ctrl-C does. */
  end(): void
  /** As SIGHUP does. */
  hangUp(): void
}

export function testTerminal(given: Partial<Pick<Terminal, 'environment' | 'cwd'>> = {}): TestTerminal {
  const said: string[] = []
  const complaints: string[] = []
  const listeners: (() => void)[] = []
  const ended = Promise.withResolvers<void>()
  return {
    environment: {},
    cwd: tmpdir(),
    ...given,
    say: (text) => void said.push(...text.split('\n')),
    complain: (text) => void complaints.push(text),
    isRead: true,
    isTerminal: false,
    input: new PassThrough(),
    output: new PassThrough(),
    untilToldToEnd: () => ended.promise,
    onHangUp: (listener) => void listeners.push(listener),
    said,
    complaints,
    end: ended.resolve,
    hangUp: () => listeners.forEach((listener) => listener()),
  }
}
