/** What the hub lends to an agent, for tests: nothing but what a test gives is behind it. */
import { delimiter, dirname } from 'node:path'
import { memoryNotes } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import type { KindParts } from '../kind.ts'
import { createPartBytes } from '../part-bytes.ts'

export interface LoggedLine {
  readonly level: keyof AgentLog
  readonly message: string
  readonly fields: Record<string, unknown> | undefined
}

/** `baseDir` is where nothing is, unless the test says otherwise. */
export function testParts(given: Partial<KindParts> = {}): KindParts & { readonly lines: readonly LoggedLine[] } {
  const lines: LoggedLine[] = []
  const at =
    (level: keyof AgentLog) =>
    (message: string, fields?: Record<string, unknown>): void =>
      void lines.push({ level, message, fields })
  const guardedFetch = given.guardedFetch ?? refuse
  return {
    name: 'tested',
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    baseDir: '/nowhere',
    programEnv: {
      PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      LANG: 'C.UTF-8',
    },
    fetch: globalThis.fetch,
    guardedFetch,
    guardedLookup: refuse,
    notes: memoryNotes(),
    bytes: createPartBytes({ guardedFetch }),
    house: {
      card: () => Promise.resolve(undefined),
      agents: () => Promise.resolve([]),
      stream: empty,
      subscribe: empty,
      task: () => Promise.reject(new Error('this house is empty')),
      cancel: () => Promise.reject(new Error('this house is empty')),
      onward: () => Promise.resolve(undefined),
    },
    model: () => undefined,
    publicUrl: () => undefined,
    ...given,
    ...clockOf(given),
    lines,
  }
}

function empty(): never {
  throw new Error('this house is empty')
}

const refuse = (): Promise<never> => Promise.reject(new Error('no address is allowed here'))
