/**
 * The agents of the conversations: what they report depends on the message alone. The same functions run in a server and, as
 * modules, in a hub. A hub loads this file a second time, so gates are kept where both find them.
 */
import { A2AError, artifact, authRequired, data, fail, file, inputRequired, reject, reply, status } from '@parley/a2a'
import type { ErrorCode, Report, Turn } from '@parley/a2a'

type Gates = Map<string, PromiseWithResolvers<void>>
const key = Symbol.for('parley.test.recordings')
const gates = ((globalThis as Record<symbol, unknown>)[key] ??= new Map()) as Gates

/** Agents wait at a gate until a conversation opens it. */
function gate(name: string): PromiseWithResolvers<void> {
  const known = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, known)
  return known
}

export const openGate = (name: string): void => gate(name).resolve()
export const forgetGates = (): void => gates.clear()

async function* talk(turn: Turn): AsyncGenerator<Report, void, void> {
  const [verb = '', word = ''] = turn.text.split(' ')
  if (turn.lastCheckpoint === 'asked') {
    yield `${turn.text} it is`
    return
  }
  switch (verb) {
    case 'chunks':
      yield 'one '
      yield 'two '
      yield 'three'
      return
    case 'artifacts':
      yield artifact('report', { name: 'Report', description: 'In chunks', text: 'First\n', metadata: { page: 1 } })
      yield artifact('report', { text: 'Second\n', append: true })
      yield artifact('report', { last: true })
      yield artifact('table', { data: { rows: [[1, 2.5, null, true, 'x']] } })
      yield artifact('table', { data: { rows: [] } })
      return
    case 'parts':
      yield data({ city: 'Oslo', celsius: -4.5, tags: ['cold', null] }, { mediaType: 'application/json' })
      yield file(new Uint8Array([0, 1, 2, 255]), { name: 'a.bin', mediaType: 'application/octet-stream' })
      yield file('https://files.example.com/a.pdf', { mediaType: 'application/pdf' })
      return
    case 'mirror':
      yield artifact('mirror', { parts: turn.message.parts })
      return
    case 'status':
      yield status('Looking')
      yield status({ parts: [{ text: 'Still looking' }], metadata: { step: 2 } }, { percent: 50 })
      yield 'seen'
      return
    case 'reply':
      yield reply(`direct ${word}`)
      return
    case 'ask':
      await turn.checkpoint('asked')
      yield inputRequired('Which city?')
      return
    case 'auth':
      await turn.checkpoint('asked')
      yield authRequired('Sign in first')
      return
    case 'fail':
      yield 'half '
      yield fail('The oven is cold')
      return
    case 'reject':
      yield reject('Not on Sundays')
      return
    case 'throw':
      throw new Error('host-7.internal is down')
    case 'late-throw':
      yield 'half '
      throw new Error('host-7.internal is down')
    case 'error':
      throw new A2AError(word as ErrorCode, `This is ${word}`)
    case 'nothing':
      return
    case 'wait':
      yield status('waiting')
      await opened(turn, word)
      yield 'released'
      return
    case 'hold':
      yield 'held '
      await opened(turn, word)
      yield 'and '
      await opened(turn, `again-${word}`)
      yield 'released'
      return
    case 'about': {
      const { caller, metadata, extensions, acceptedOutputModes, streamed } = turn
      const { metadata: messageMetadata = {} } = turn.message
      const counts = { history: (await turn.history()).length, context: (await turn.context()).length }
      const references = (await turn.references()).length
      const anonymous = caller.anonymous === true
      yield data({
        anonymous,
        metadata,
        messageMetadata,
        extensions,
        acceptedOutputModes,
        streamed,
        ...counts,
        references,
      })
      return
    }
    default:
      yield `You said: ${turn.text}`
  }
}

async function opened({ signal }: Turn, name: string): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  await Promise.race([gate(name).promise, aborted.promise])
}

const skills = [
  {
    id: 'talk',
    name: 'Talk',
    description: 'Says what it was told',
    tags: ['talk', 'test'],
    examples: ['chunks'],
    inputModes: ['text/plain'],
    outputModes: ['text/plain', 'application/json'],
  },
]

/** Card fields that a server takes as options and a hub from the module. */
export const main = {
  name: 'Main',
  description: 'Does what the message says',
  version: '2.1.0',
  provider: { organization: 'Example', url: 'https://example.com' },
  documentationUrl: 'https://example.com/docs',
  iconUrl: 'https://example.com/icon.png',
  skills,
  agent: talk,
}
/** Neither streams nor accepts anything but text. */
export const plain = {
  name: 'Plain',
  description: 'Text only',
  skills,
  inputModes: ['text/plain'],
  outputModes: ['text/plain'],
  streaming: false,
  agent: talk,
}
/** Settings outside its module make it refuse messages. */
export const strict = { name: 'Strict', description: 'Requires an extension', skills, agent: talk }
export const busy = { name: 'Busy', description: 'One turn at a time', skills, agent: talk }
export const secret = { name: 'Secret', description: 'For callers with credentials', skills, agent: talk }
