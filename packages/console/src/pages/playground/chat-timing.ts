/** How long an answer takes: to its first output and to its end. From the log if it is loaded, otherwise as this page saw it. */
import { isInterrupted, isTerminal, type StreamEvent } from '@parley/a2a'
import type { Transcript, TranscriptItem } from '../../conversation/transcript.ts'

/** Milliseconds since the epoch. */
export interface SeenTimes {
  readonly sentAt: number
  readonly firstOutputAt: number | undefined
  readonly endedAt: number | undefined
}

export interface AnswerTimes {
  readonly firstOutputMs: number | undefined
  readonly totalMs: number | undefined
}

/** Whether the event has content of the agent, rather than a state alone. */
export function isOutput(event: StreamEvent): boolean {
  if ('artifactUpdate' in event) return true
  if ('message' in event) return event.message.role !== 'ROLE_USER'
  return 'statusUpdate' in event && event.statusUpdate.status.message !== undefined
}

export function answerTimes({ items, startedAt, state }: Transcript, seen: SeenTimes | undefined): AnswerTimes {
  const isDone = isTerminal(state) || isInterrupted(state)
  const from = startedAt ?? seen?.sentAt
  const first = items.find(isAgentOutput)?.at ?? seen?.firstOutputAt
  const last = startedAt === undefined ? seen?.endedAt : items.findLast((item) => item.at !== undefined)?.at
  return {
    firstOutputMs: from === undefined || first === undefined ? undefined : Math.max(0, first - from),
    totalMs: !isDone || from === undefined || last === undefined ? undefined : Math.max(0, last - from),
  }
}

function isAgentOutput(item: TranscriptItem): boolean {
  if (item.kind === 'said') return item.message.role !== 'ROLE_USER'
  return item.kind === 'made' || item.kind === 'status' || (item.kind === 'asked' && item.message !== undefined)
}
