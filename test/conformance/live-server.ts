/** Our server on a free port, with an agent that shows every scenario, for the checks that `a2a conformance` makes. */
import { once } from 'node:events'
import { artifact, authRequired, inputRequired, memoryStore, reject, reply } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { serve, type Server, type ServeOptions } from '@parley/a2a/node'
import type { Profile } from '@parley/cli/conformance'

export const callerToken = 'conformance-token-of-ada'
const otherToken = 'conformance-token-of-bob'
const callers: Readonly<Record<string, string>> = { [`Bearer ${callerToken}`]: 'ada', [`Bearer ${otherToken}`]: 'bob' }

/** The text of a message names what the agent does with it. */
export const liveProfile: Profile = {
  text: 'complete',
  messages: {
    complete: { text: 'complete' },
    artifact: { text: 'artifact' },
    message: { text: 'message' },
    inputRequired: { text: 'inputRequired' },
    authRequired: { text: 'authRequired' },
    slow: { text: 'slow' },
    reject: { text: 'reject' },
    fail: { text: 'fail' },
    stream: { text: 'stream' },
  },
  otherCaller: { headers: { authorization: `Bearer ${otherToken}` } },
  accepted: {
    'version.missing-is-not-1.0': 'B-10: without a version the method decides; `strict` follows the text',
  },
}

const silentLog = { debug() {}, info() {}, warn() {}, error() {} }

/** How long a slow task works: longer than two requests on a busy machine take. */
const slowMs = 1_500

async function* agent({ text, signal }: Turn): AsyncGenerator<Report> {
  switch (text) {
    case 'message':
      yield reply('A message without a task')
      return
    case 'inputRequired':
      yield inputRequired('What else?')
      return
    case 'authRequired':
      yield authRequired('Prove who you are')
      return
    case 'reject':
      yield reject('No')
      return
    case 'fail':
      throw new Error('as requested')
    case 'stream':
      for (const word of ['one ', 'two ', 'three'])
        yield artifact('words', { text: word, append: word !== 'one ', last: word === 'three' })
      return
    case 'slow':
      yield { state: 'TASK_STATE_WORKING' }
      await Promise.race([once(AbortSignal.timeout(slowMs), 'abort'), once(signal, 'abort')])
      yield 'At last'
      return
    default:
      yield `You said ${text}`
  }
}

/** Over all three bindings, in all versions, for two callers. */
export function openLiveServer(options: Partial<ServeOptions> = {}): Promise<Server> {
  return serve({
    name: 'Live agent',
    description: 'Does what the message says',
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
    inputModes: ['text/plain', 'application/json'],
    port: 0,
    grpcPort: 0,
    quiet: true,
    log: silentLog,
    store: memoryStore(),
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
    authenticate({ header }) {
      const id = callers[header('authorization') ?? '']
      return id === undefined ? undefined : { id }
    },
    push: { allow: ['127.0.0.1', 'localhost'] },
    agent,
    ...options,
  } as ServeOptions)
}
