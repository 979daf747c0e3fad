/** The agent services for tests: contain only what a test passes. */
import { delimiter, dirname } from 'node:path'
import type { AgentLog } from '@parley/a2a'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { clockOf } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import { createPartReader } from '../part-reader.ts'

export interface LoggedLine {
  readonly level: keyof AgentLog
  readonly message: string
  readonly fields: Record<string, unknown> | undefined
}

/** Programs of tests are started hundreds of times: half the CPU time with compiled code. */
const folder = process.env['NODE_COMPILE_CACHE']
const compileCache = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }

/** `baseDir` is a folder that does not exist, unless the test sets it. */
export function testAgentServices(
  given: Partial<AgentServices> = {},
): AgentServices & { readonly lines: readonly LoggedLine[] } {
  const lines: LoggedLine[] = []
  const at =
    (level: keyof AgentLog) =>
    (message: string, fields?: Record<string, unknown>): void =>
      void lines.push({ level, message, fields })
  const guardedFetch = given.guardedFetch ?? rejectAddress
  return {
    name: 'tested',
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    baseDir: '/nowhere',
    programEnv: {
      PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      LANG: 'C.UTF-8',
      ...compileCache,
    },
    fetch: globalThis.fetch,
    guardedFetch,
    guardedLookup: rejectAddress,
    kv: memoryKeyValueStore(),
    readPart: createPartReader({ guardedFetch }),
    inProcessClient: {
      card: () => Promise.resolve(undefined),
      agents: () => Promise.resolve([]),
      stream: throwNoAgents,
      subscribe: throwNoAgents,
      task: () => Promise.reject(new Error('no other agents in this test')),
      cancel: () => Promise.reject(new Error('no other agents in this test')),
      hopTokenFor: () => Promise.resolve(undefined),
    },
    model: () => undefined,
    publicUrl: () => undefined,
    ...given,
    ...clockOf(given),
    lines,
  }
}

function throwNoAgents(): never {
  throw new Error('no other agents in this test')
}

const rejectAddress = (): Promise<never> => Promise.reject(new Error('no address is allowed here'))
