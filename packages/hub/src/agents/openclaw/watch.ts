/**
 * What happens to a run, in order, for whoever tells it on. Texts that nobody has taken yet give way to newer ones, which
 * hold them, so that a slow reader costs no memory; all else is counted, and the oldest is dropped with a warning.
 */
import type { Message, Report, Struct } from '@parley/a2a'
import { createItems } from './answer.ts'
import { approvalIn } from './approvals.ts'
import type { ApprovalRequest } from './approvals.ts'
import { chatEnding, textOfChat } from './ending.ts'
import type { Outcome } from './ending.ts'
import type { Listener } from './gateway.ts'
import { toolReport } from './tools.ts'
import type { ToolDetail } from './tools.ts'
import { fieldsOf, numberIn, textIn } from './wire.ts'
import type { Fields, GatewayEvent } from './wire.ts'

export type Happening =
  | { readonly text: string; readonly warning?: Struct }
  | { readonly report: Report }
  | { readonly approval: ApprovalRequest }
  | { readonly decided: string }
  /** The caller's answer to the question that is open. */
  | { readonly reply: Message }
  | { readonly outcome: Outcome }
  /** The gateway never got the message, and nobody runs it. */
  | { readonly isUnsent: true }
  /** A chat event says so. Without anything said before it, the message went into the queue of a run that was there first. */
  | { readonly chatOutcome: Outcome; readonly isOfRun: boolean }
  /** Another run took the turn up: its text begins anew. */
  | { readonly adopted: string }
  | { readonly lost: string }

/**
 * Which events tell the text. A run that we began is told by its items. Of one that we found under way we do not know
 * the items before, and chat events hold the whole text; so does a session that the gateway has taken up by itself.
 */
export type Source = 'items' | 'chat' | 'session' | 'none'

export interface Watch {
  readonly listener: Listener
  /** The whole text, given what the run came to. */
  concluded(final: string): string
  /** Rejects when the turn is to end. */
  take(): Promise<Happening>
  put(happening: Happening): void
  readFrom(source: Source): void
  /** The run that the events are taken from. */
  runId(): string
}

const mostWaiting = 1_000

export function createWatch(runId: string, detail: ToolDetail, signal: AbortSignal): Watch {
  const waiting: Happening[] = []
  const items = createItems()
  const told = new Set<string>()
  let source: Source = 'items'
  let run = runId
  let begun = false
  let lastSeq: number | undefined
  let warning: Struct | undefined
  let wake: (() => void) | undefined
  signal.addEventListener('abort', () => wake?.(), { once: true })

  return {
    listener: {
      event: heard,
      gap: (expected, received) => warn(expected, received),
      lost: (why) => put({ lost: why }),
    },
    // The items are those of the run that we began, and of no other.
    concluded: (final) => (source === 'items' ? items.concluded(final) : final),
    put,
    readFrom(next) {
      source = next
    },
    runId: () => run,
    async take() {
      for (;;) {
        signal.throwIfAborted()
        const next = waiting.shift()
        if (next !== undefined) return next
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }

  function put(happening: Happening): void {
    const last = waiting.at(-1)
    if ('text' in happening && last !== undefined && 'text' in last) {
      waiting[waiting.length - 1] = { ...last, ...happening }
    } else {
      waiting.push(happening)
      if (waiting.length > mostWaiting) dropOne()
    }
    wake?.()
    wake = undefined
  }

  /** Only what tells of progress may go: ends and questions are never dropped. */
  function dropOne(): void {
    const index = waiting.findIndex((one) => 'report' in one)
    if (index < 0) return
    waiting.splice(index, 1)
    warning ??= { warning: 'events were dropped' }
  }

  function warn(expected: number, received: number): void {
    warning = { warning: 'seq gap', expected, received }
  }

  function say(text: string): void {
    put({ text, ...(warning !== undefined ? { warning } : {}) })
    warning = undefined
  }

  function heard({ event, payload }: GatewayEvent): void {
    if (event === 'exec.approval.requested') return putIf(approvalIn(payload), (approval) => ({ approval }))
    if (event === 'exec.approval.resolved') return putIf(textIn(payload, 'id'), (decided) => ({ decided }))
    const from = textIn(payload, 'runId')
    if (from === undefined) return
    if (from !== run) {
      if (source !== 'session') return
      run = from
      put({ adopted: from })
    }
    if (event === 'agent') heardRun(payload)
    else if (event === 'chat') heardChat(payload)
  }

  function heardRun(payload: Fields): void {
    const data = fieldsOf(payload['data'])
    const { stream } = payload
    const seq = numberIn(payload, 'seq')
    begun = true
    if (stream === 'assistant' && source === 'items') {
      const { whole, isGuess } = items.read(data)
      // Numbers are left out whenever the gateway joins events; it matters only where an event does not hold all before it.
      if (isGuess && seq !== undefined && lastSeq !== undefined && seq > lastSeq + 1) warn(lastSeq + 1, seq)
      say(whole)
    } else if (stream === 'error' && data['reason'] === 'seq gap') {
      warn(numberIn(data, 'expected') ?? 0, numberIn(data, 'received') ?? 0)
    } else {
      const report =
        stream === 'run_status' ? retryReport(data) : toolReport(stream, data, source !== 'items', told, detail)
      putIf(report, (one) => ({ report: one }))
    }
    lastSeq = seq ?? lastSeq
  }

  function heardChat(payload: Fields): void {
    const { state } = payload
    if (state === 'delta' && (source === 'chat' || source === 'session')) say(textOfChat(payload))
    const outcome = chatEnding(payload)
    if (outcome !== undefined) put({ chatOutcome: outcome, isOfRun: begun })
    else if (state !== 'status') begun = true
  }

  function putIf<T>(value: T | undefined, happening: (value: T) => Happening): void {
    if (value !== undefined) put(happening(value))
  }
}

/** The gateway tries its model's provider again, up to eight times: nothing has ended. */
function retryReport(data: Fields): Report | undefined {
  if (data['phase'] !== 'retrying') return undefined
  const attempt = numberIn(data, 'retryAttempt') ?? 1
  const most = numberIn(data, 'maxRetries')
  return {
    state: 'TASK_STATE_WORKING',
    message: `The agent's model does not answer; it is asked again${most === undefined ? '' : ` (${attempt} of ${most})`}`,
    metadata: { retry: { attempt, ...(most !== undefined ? { most } : {}) } },
  }
}
