/** Runs one prompt and reports its events until it stops or is stopped. */
import {
  RequestError,
  type ContentBlock,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { type Report, type Turn, artifact, fail, reject } from '@parley/a2a'
import { omitUndefined, resultWithin } from '@parley/a2a/internal'
import { type PermissionPrompter, cancelledPermission } from './permission.ts'
import type { AcpEntry } from './entry.ts'
import type { AcpPeer } from './peer.ts'
import type { SessionRouter } from './session-router.ts'
import { type AcpAnswerText, updateBytes, partOfContent, reportOfUpdate } from './acp-updates.ts'

export interface PromptRun {
  readonly turn: Turn
  readonly peer: AcpPeer
  readonly sessionId: string
  readonly prompt: ContentBlock[]
  readonly artifactId: string
  readonly answer: AcpAnswerText
  readonly permissions: PermissionPrompter
  readonly router: SessionRouter
  readonly entry: AcpEntry
  /** Called if the agent did not stop when asked to. */
  onUnresponsive(): void
}

type PromptEvent =
  | { readonly update: SessionUpdate }
  | { readonly permission: RequestPermissionRequest; respond(response: RequestPermissionResponse): void }
  | { readonly stop: PromptResponse }
  | { readonly failure: unknown }
  | { readonly aborted: true }

export type ReportStream = AsyncGenerator<Report, void, void>

export async function* runPrompt(promptRun: PromptRun): ReportStream {
  const { turn, peer, sessionId, prompt, permissions, router, entry } = promptRun
  const { signal } = turn
  const inbox = createEventQueue<PromptEvent>()
  const unanswered = new Set<(response: RequestPermissionResponse) => void>()
  const stopListening = router.listen(sessionId, {
    onSessionUpdate: (update) => inbox.push({ update }),
    onPermissionRequest: (permission) =>
      new Promise((respond) => {
        unanswered.add(respond)
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
        bytes += updateBytes(item.update)
        if (bytes > entry.outputLimit) {
          yield fail(`The output of the agent exceeds ${entry.outputLimit} bytes (outputLimit)`)
          return
        }
        yield* reportUpdate(item.update, promptRun)
      } else if ('permission' in item) {
        item.respond(await permissions.decide(item.permission))
        unanswered.delete(item.respond)
      } else if ('stop' in item) {
        isOver = true
        yield* reportStop(item.stop, promptRun)
        return
      } else if ('failure' in item) {
        isOver = true
        turn.log.error('the agent failed', { taskId: turn.task.id, cause: item.failure })
        yield fail(failureMessage(item.failure), { cause: item.failure })
        return
      }
    }
  } finally {
    signal.removeEventListener('abort', abort)
    if (!isOver && prompting !== undefined) await cancelPrompt(prompting, unanswered, promptRun)
    stopListening()
  }
}

/** The trace fields of the protocol, with the tracestate of other vendors. */
function traceOf({ traceparent, tracestate }: Turn): Record<string, string> {
  return { traceparent, ...omitUndefined({ tracestate }) }
}

async function* reportUpdate(update: SessionUpdate, { artifactId, answer, entry }: PromptRun): ReportStream {
  if (update.sessionUpdate !== 'agent_message_chunk') {
    const report = reportOfUpdate(update, entry)
    if (report !== undefined) yield report
    return
  }
  const { content, messageId } = update
  if (content.type !== 'text') {
    const part = partOfContent(content)
    if (part !== undefined) yield part
    return
  }
  const append = answer.text !== ''
  const text = answer.add(content.text, messageId)
  if (text !== '') yield artifact(artifactId, { text, append })
}

async function* reportStop({ stopReason }: PromptResponse, { artifactId, answer }: PromptRun): ReportStream {
  if (answer.text !== '') yield artifact(artifactId, { last: true })
  const metadata = { stopReason }
  switch (stopReason) {
    case 'end_turn':
      return
    case 'max_tokens':
      yield {
        state: 'TASK_STATE_COMPLETED',
        message: 'The answer is incomplete: the model reached its token limit',
        metadata,
      }
      return
    case 'max_turn_requests':
      yield { state: 'TASK_STATE_COMPLETED', message: 'The agent stopped: it reached its step limit', metadata }
      return
    case 'refusal':
      yield { ...reject('The agent declined to answer'), metadata }
      return
    case 'cancelled':
      yield { state: 'TASK_STATE_CANCELED', metadata }
      return
    default:
      // A stop reason of a newer protocol version: the prompt has ended.
      return
  }
}

/** Cancels the prompt and waits for it to stop, with a time limit. */
async function cancelPrompt(
  prompting: Promise<void>,
  unanswered: ReadonlySet<(response: RequestPermissionResponse) => void>,
  { peer, sessionId, entry, onUnresponsive, turn }: PromptRun,
): Promise<void> {
  await peer.agent.notify('session/cancel', { sessionId }).catch(() => {})
  for (const respond of unanswered) respond(cancelledPermission)
  if ((await resultWithin(prompting, entry.killGrace, 'late')) !== 'late') return
  turn.log.warn('the agent did not stop on request', { taskId: turn.task.id })
  onUnresponsive()
}

const authRequired = -32_000

/** The message for the caller. The agent's own error text is for the operator. */
export function failureMessage(failure: unknown): string {
  if (!(failure instanceof RequestError)) return "The agent's program exited during the turn"
  return failure.code === authRequired ? 'The agent requires sign-in by its operator' : 'The agent could not answer'
}

/** A queue with several writers and one reader, in order of arrival. */
interface EventQueue<T> {
  push(item: T): void
  next(): Promise<T>
}

function createEventQueue<T>(): EventQueue<T> {
  const items: T[] = []
  let waiting: ((item: T) => void) | undefined
  return {
    push(item) {
      if (waiting === undefined) {
        items.push(item)
        return
      }
      const take = waiting
      waiting = undefined
      take(item)
    },
    next() {
      const item = items.shift()
      return item === undefined ? new Promise((resolve) => (waiting = resolve)) : Promise.resolve(item)
    },
  }
}
