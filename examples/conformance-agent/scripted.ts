/**
 * The agent of the 1.0 kit. The prefix of the messageId selects what the agent does with the
 * message; a message without a known prefix completes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, authRequired, data, file, inputRequired, reject, reply } from '@parley/a2a'
import type { AgentOutput, Report, Turn } from '@parley/a2a'

/** More than twice as long as the kit reads one stream (TCK_STREAMING_TIMEOUT, 2 s): it then resubscribes for the rest. */
const longMs = 4_000

const working: Report = { state: 'TASK_STATE_WORKING' }
const completed = (message: string): Report => ({ state: 'TASK_STATE_COMPLETED', message })

const textFile = { name: 'output.txt', mediaType: 'text/plain' }
const bytes = file(new TextEncoder().encode('tck'), textFile)
const link = file('https://example.com/output.txt', textFile)

/** WORKING, then the output; the end of the generator completes the task. */
const stream = (...seen: Report[]): Report[] => [working, ...seen]

const scripts: Readonly<Record<string, (turn: Turn) => AgentOutput>> = {
  'tck-complete-task': () => [completed('Hello from TCK')],
  'tck-delayed-complete': (turn) => after(2_000, turn, completed('Done after delay')),
  'tck-artifact-text': () => 'Generated text content',
  'tck-artifact-file': () => bytes,
  'tck-artifact-file-url': () => link,
  'tck-artifact-data': () => data({ key: 'value', count: 42 }),
  'tck-message-response': () => reply('Direct message response'),
  'tck-input-required': () => inputRequired('What else?'),
  'tck-auth-required': () => authRequired('Prove who you are, then write again.'),
  'tck-reject-task': () => reject('rejected'),
  'tck-stream-001': () => stream('Stream hello from TCK'),
  'tck-stream-002': () => [completed('Nothing more to see')],
  'tck-stream-003': () => stream('Stream task lifecycle'),
  'tck-stream-ordering-001': () => stream('Ordered output'),
  'tck-stream-artifact-text': () => stream('Streamed text content'),
  'tck-stream-artifact-file': () => stream(bytes),
  'tck-stream-artifact-chunked': () =>
    stream(artifact('chunks', { text: 'chunk-1 ' }), artifact('chunks', { text: 'chunk-2', append: true, last: true })),
  'test-resubscribe-message-id': (turn) => after(longMs, turn, completed('Done at last')),
}

/** `tck-artifact-file-url-…` also begins with `tck-artifact-file`: the longest prefix wins. */
const prefixes = Object.keys(scripts).sort((a, b) => b.length - a.length)

export function scripted(turn: Turn): AgentOutput {
  const prefix = prefixes.find((each) => turn.message.messageId.startsWith(each)) ?? 'tck-complete-task'
  return scripts[prefix]?.(turn)
}

async function* after(delayMs: number, { signal }: Turn, last: Report): AsyncGenerator<Report> {
  yield working
  await sleep(delayMs, undefined, { signal })
  yield last
}
