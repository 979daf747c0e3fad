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

/** Whether the event has content of the agent. Its status messages tell of work, except the one that is its answer. */
export function isOutput(event: StreamEvent): boolean {
  if ('artifactUpdate' in event) return true
  if ('message' in event) return event.message.role !== 'ROLE_USER'
  if (!('statusUpdate' in event)) return false
  const { state, message } = event.statusUpdate.status
  return state === 'TASK_STATE_COMPLETED' && message !== undefined
}

export function answerTimes({ items, startedAt, state }: Transcript, seen: SeenTimes | undefined): AnswerTimes {
  const isDone = isTerminal(state) || isInterrupted(state)
  const from = startedAt ?? seen?.sentAt
  // The clocks of the hub and of the page differ.
  const first = startedAt === undefined ? seen?.firstOutputAt : items.find(isAgentOutput)?.at
  const last = startedAt === undefined ? seen?.endedAt : items.findLast((item) => item.at !== undefined)?.at
  return {
    firstOutputMs: from === undefined || first === undefined ? undefined : Math.max(0, first - from),
    totalMs: !isDone || from === undefined || last === undefined ? undefined : Math.max(0, last - from),
  }
}

function isAgentOutput(item: TranscriptItem): boolean {
  return item.kind === 'made' || (item.kind === 'said' && item.message.role !== 'ROLE_USER')
}
