/**
 * The queue of events of a run. A text that was not read yet is replaced by a newer one, which contains it, so that a slow
 * reader costs no memory. Other events are counted, and the oldest is dropped with a warning.
 */
import type { Message, Report, Struct } from '@parley/a2a'
import { createAnswerItems } from './growing-answer.ts'
import { parseApproval, type ApprovalRequest } from './approvals.ts'
import { outcomeOfChat, chatText, type RunOutcome } from './run-outcome.ts'
import type { GatewayListener } from './gateway/gateway.ts'
import { asFields, numberField, stringField, type GatewayFields, type GatewayEvent } from './gateway/frames.ts'
import { type ToolDetail, toolReport } from './tool-report.ts'

export type RunEvent =
  | { readonly text: string; readonly warning?: Struct }
  | { readonly report: Report }
  | { readonly approval: ApprovalRequest }
  | { readonly decided: string }
  /** The caller's answer to the open question. */
  | { readonly reply: Message }
  | { readonly outcome: RunOutcome }
  /** The gateway never received the message, so no run exists. */
  | { readonly isUnsent: true }
  /** The end as reported by a chat event. If no event of the run preceded it, the message was queued into an earlier run. */
  | { readonly chatOutcome: RunOutcome; readonly isOfRun: boolean }
  /** Another run took over the turn: its text begins anew. */
  | { readonly adopted: string }
  | { readonly lost: string }

/**
 * Which events provide the text. A run that this process started is read from its items. For a run that was already running
 * the earlier items are unknown, so its chat events are read, which hold the whole text. The same applies to a session that
 * the gateway resumed.
 */
export type TextSource = 'items' | 'chat' | 'session' | 'none'

export interface RunEventQueue {
  readonly listener: GatewayListener
  /** The whole text after the end of the run. */
  finalText(final: string): string
  /** Rejects when the turn must end. */
  next(): Promise<RunEvent>
  push(runEvent: RunEvent): void
  readFrom(source: TextSource): void
  /** The run whose events are read. */
  runId(): string
}

const maxQueued = 1_000

export function createRunEventQueue(runId: string, detail: ToolDetail, signal: AbortSignal): RunEventQueue {
  const queue: RunEvent[] = []
  const items = createAnswerItems()
  const reportedTools = new Set<string>()
  let source: TextSource = 'items'
  let run = runId
  let begun = false
  let lastSeq: number | undefined
  let warning: Struct | undefined
  let wake: (() => void) | undefined
  signal.addEventListener('abort', () => wake?.(), { once: true })

  return {
    listener: {
      onEvent: onGatewayEvent,
      onGap: (expected, received) => warn(expected, received),
      onLost: (why) => push({ lost: why }),
    },
    // The items belong only to the run that this process started.
    finalText: (final) => (source === 'items' ? items.finalText(final) : final),
    push,
    readFrom(next) {
      source = next
    },
    runId: () => run,
    async next() {
      for (;;) {
        signal.throwIfAborted()
        const next = queue.shift()
        if (next !== undefined) return next
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }

  function push(runEvent: RunEvent): void {
    const last = queue.at(-1)
    if ('text' in runEvent && last !== undefined && 'text' in last) {
      queue[queue.length - 1] = { ...last, ...runEvent }
    } else {
      queue.push(runEvent)
      if (queue.length > maxQueued) dropOne()
    }
    wake?.()
    wake = undefined
  }

  /** Only progress may be dropped: ends and questions never are. */
  function dropOne(): void {
    const index = queue.findIndex((one) => 'report' in one)
    if (index < 0) return
    queue.splice(index, 1)
    warning ??= { warning: 'events were dropped' }
  }

  function warn(expected: number, received: number): void {
    warning = { warning: 'seq gap', expected, received }
  }

  function pushText(text: string): void {
    push({ text, ...(warning !== undefined ? { warning } : {}) })
    warning = undefined
  }

  function onGatewayEvent({ event, payload }: GatewayEvent): void {
    if (event === 'exec.approval.requested') return pushIf(parseApproval(payload), (approval) => ({ approval }))
    if (event === 'exec.approval.resolved') return pushIf(stringField(payload, 'id'), (decided) => ({ decided }))
    const from = stringField(payload, 'runId')
    if (from === undefined) return
    if (from !== run) {
      if (source !== 'session') return
      run = from
      push({ adopted: from })
    }
    if (event === 'agent') onAgentEvent(payload)
    else if (event === 'chat') onChatEvent(payload)
  }

  function onAgentEvent(payload: GatewayFields): void {
    const data = asFields(payload['data'])
    const { stream } = payload
    const seq = numberField(payload, 'seq')
    begun = true
    if (stream === 'assistant' && source === 'items') {
      const { whole, isGuess } = items.read(data)
      // Gaps occur whenever the gateway merges events. They matter only if an event does not contain the whole text.
      if (isGuess && seq !== undefined && lastSeq !== undefined && seq > lastSeq + 1) warn(lastSeq + 1, seq)
      pushText(whole)
    } else if (stream === 'error' && data['reason'] === 'seq gap') {
      warn(numberField(data, 'expected') ?? 0, numberField(data, 'received') ?? 0)
    } else {
      const report =
        stream === 'run_status'
          ? retryReport(data)
          : toolReport(stream, data, source !== 'items', reportedTools, detail)
      pushIf(report, (one) => ({ report: one }))
    }
    lastSeq = seq ?? lastSeq
  }

  function onChatEvent(payload: GatewayFields): void {
    const { state } = payload
    if (state === 'delta' && (source === 'chat' || source === 'session')) pushText(chatText(payload))
    const outcome = outcomeOfChat(payload)
    if (outcome !== undefined) push({ chatOutcome: outcome, isOfRun: begun })
    else if (state !== 'status') begun = true
  }

  function pushIf<T>(value: T | undefined, runEvent: (value: T) => RunEvent): void {
    if (value !== undefined) push(runEvent(value))
  }
}

/** The gateway retries its model provider, up to eight times; the run continues. */
function retryReport(data: GatewayFields): Report | undefined {
  if (data['phase'] !== 'retrying') return undefined
  const attempt = numberField(data, 'retryAttempt') ?? 1
  const most = numberField(data, 'maxRetries')
  return {
    state: 'TASK_STATE_WORKING',
    message: `The agent's model does not respond; retrying${most === undefined ? '' : ` (${attempt} of ${most})`}`,
    metadata: { retry: { attempt, ...(most !== undefined ? { most } : {}) } },
  }
}
