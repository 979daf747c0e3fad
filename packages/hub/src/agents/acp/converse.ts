/** One prompt to the agent and all that comes of it, until it stops or is stopped. */
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestError } from '@agentclientprotocol/sdk'
import type {
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import type { Report, Turn } from '@parley/a2a'
import { artifact, fail, reject } from '@parley/a2a'
import type { Asking } from './asking.ts'
import type { AcpEntry } from './entry.ts'
import { createInbox } from './inbox.ts'
import type { Peer } from './peer.ts'
import { refused } from './permission.ts'
import type { Switchboard } from './switchboard.ts'
import type { Answer } from './told.ts'
import { bytesOf, partOf, reportOf } from './told.ts'

export interface Conversation {
  readonly turn: Turn
  readonly peer: Peer
  readonly sessionId: string
  readonly prompt: ContentBlock[]
  readonly artifactId: string
  readonly answer: Answer
  readonly asking: Asking
  readonly board: Switchboard
  readonly entry: AcpEntry
  /** The agent did not stop when it was told to. */
  onStuck(): void
}

type Item =
  | { readonly update: SessionUpdate }
  | { readonly permission: RequestPermissionRequest; respond(response: RequestPermissionResponse): void }
  | { readonly stop: PromptResponse }
  | { readonly failure: unknown }
  | { readonly aborted: true }

export type Reports = AsyncGenerator<Report, void, void>

export async function* converse(conversation: Conversation): Reports {
  const { turn, peer, sessionId, prompt, asking, board, entry } = conversation
  const { signal } = turn
  const inbox = createInbox<Item>()
  const open = new Set<(response: RequestPermissionResponse) => void>()
  const stopListening = board.listen(sessionId, {
    heard: (update) => inbox.push({ update }),
    asked: (permission) =>
      new Promise((respond) => {
        open.add(respond)
        inbox.push({ permission, respond })
      }),
  })
  const abort = (): void => inbox.push({ aborted: true })
  signal.addEventListener('abort', abort, { once: true })
  let isOver = false
  let bytes = 0
  let prompting: Promise<void> | undefined

  try {
    signal.throwIfAborted()
    prompting = peer.agent.request('session/prompt', { sessionId, prompt, _meta: traceOf(turn) }).then(
      (stop) => inbox.push({ stop }),
      (failure: unknown) => inbox.push({ failure }),
    )
    for (;;) {
      const item = await inbox.next()
      signal.throwIfAborted()
      if ('update' in item) {
        bytes += bytesOf(item.update)
        if (bytes > entry.outputLimit) {
          yield fail(`The agent said more than the ${entry.outputLimit} bytes that are taken here`)
          return
        }
        yield* show(item.update, conversation)
      } else if ('permission' in item) {
        item.respond(await asking.decide(item.permission))
        open.delete(item.respond)
      } else if ('stop' in item) {
        isOver = true
        yield* conclude(item.stop, conversation)
        return
      } else if ('failure' in item) {
        isOver = true
        turn.log.error('the agent failed', { taskId: turn.task.id, cause: item.failure })
        yield fail(sentenceOf(item.failure))
        return
      }
    }
  } finally {
    signal.removeEventListener('abort', abort)
    if (!isOver && prompting !== undefined) await stop(prompting, open, conversation)
    stopListening()
  }
}

/** As the protocol hands a trace on: what others keep beside it goes along. */
function traceOf({ traceparent, tracestate }: Turn): Record<string, string> {
  return { traceparent, ...(tracestate !== undefined ? { tracestate } : {}) }
}

async function* show(update: SessionUpdate, { artifactId, answer, entry }: Conversation): Reports {
  if (update.sessionUpdate !== 'agent_message_chunk') {
    const report = reportOf(update, entry)
    if (report !== undefined) yield report
    return
  }
  const { content, messageId } = update
  if (content.type !== 'text') {
    const part = partOf(content)
    if (part !== undefined) yield part
    return
  }
  const append = answer.text !== ''
  const text = answer.add(content.text, messageId)
  if (text !== '') yield artifact(artifactId, { text, append })
}

async function* conclude({ stopReason }: PromptResponse, { artifactId, answer }: Conversation): Reports {
  if (answer.text !== '') yield artifact(artifactId, { last: true })
  const metadata = { stopReason }
  switch (stopReason) {
    case 'end_turn':
      return
    case 'max_tokens':
      yield { state: 'TASK_STATE_COMPLETED', message: 'The answer is cut off: the model may not say more', metadata }
      return
    case 'max_turn_requests':
      yield { state: 'TASK_STATE_COMPLETED', message: 'The agent stopped: it may not take more steps', metadata }
      return
    case 'refusal':
      yield { ...reject('The agent declined to answer'), metadata }
      return
    case 'cancelled':
      yield { state: 'TASK_STATE_CANCELED', metadata }
      return
    default:
      // Of a newer version of the protocol: it has stopped, whatever that is called.
      return
  }
}

/** Tells it to stop, and waits until it has; but not for ever. */
async function stop(
  prompting: Promise<void>,
  open: ReadonlySet<(response: RequestPermissionResponse) => void>,
  { peer, sessionId, entry, onStuck, turn }: Conversation,
): Promise<void> {
  await peer.agent.notify('session/cancel', { sessionId }).catch(() => {})
  for (const respond of open) respond(refused)
  const waiting = new AbortController()
  const late = sleep(entry.killGrace, 'late', { signal: waiting.signal }).catch(() => undefined)
  const outcome = await Promise.race([prompting, late])
  waiting.abort()
  if (outcome !== 'late') return
  turn.log.warn('the agent did not stop when it was told to', { taskId: turn.task.id })
  onStuck()
}

const authRequired = -32_000

/** For the caller. What the agent itself says of its failures is for whoever runs it. */
export function sentenceOf(failure: unknown): string {
  if (!(failure instanceof RequestError)) return 'The program of the agent ended in the middle of its work'
  return failure.code === authRequired
    ? 'The agent has to be signed in first, by whoever runs it'
    : 'The agent could not answer'
}
