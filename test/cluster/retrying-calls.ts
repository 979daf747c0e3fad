/**
 * Calls that are retried until they get a response, and streams that are resumed until the task has ended: the client behavior
 * behind every checked history.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError } from '../../packages/a2a/src/model/error.ts'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import type { StreamEvent } from '../../packages/a2a/src/model/task.ts'
import type { TestWire } from '../../packages/a2a/src/testing/test-wire.ts'
import type { SubscriberHistory } from './check-history.ts'

export type Writable<T> = { -readonly [K in keyof T]: T[K] }

export interface RetryingCallsOptions {
  /** How long a call may wait for its next byte before it is aborted and retried. */
  readonly idleTimeoutMs: number
  /** Multiplies the timeout after each retry, so that a slow machine succeeds eventually. Default 1. */
  readonly idleTimeoutGrowth?: number
  onRetry?(reason: string): void
  /** No attempt follows once it is aborted. */
  readonly giveUp?: AbortSignal | undefined
}

export type RetriedCall<T> = (signal: AbortSignal, isAlive: () => void) => Promise<T>

const maxTries = 2_000
/** The pause between attempts: short at first, longer while the server stays unreachable. */
const maxWaitMs = 1_000
const maxIdleTimeoutMs = 120_000

export function createRetryingCalls({ idleTimeoutMs, idleTimeoutGrowth = 1, onRetry, giveUp }: RetryingCallsOptions) {
  /** Retries when the server is unreachable, the connection breaks or no byte arrives in time. Other errors are results. */
  async function persist<T>(call: RetriedCall<T>): Promise<T> {
    let timeoutMs = idleTimeoutMs
    for (let tries = 0; ; tries += 1) {
      const stop = new AbortController()
      let timer = setTimeout(() => stop.abort(), timeoutMs)
      const isAlive = (): void => void (timer = (clearTimeout(timer), setTimeout(() => stop.abort(), timeoutMs)))
      try {
        return await call(stop.signal, isAlive)
      } catch (reason) {
        const isAnswer = reason instanceof A2AError && !reason.retryable && reason.code !== 'INVALID_AGENT_RESPONSE'
        if (isAnswer || tries > maxTries || giveUp?.aborted === true) throw reason
        onRetry?.(describeError(reason))
        timeoutMs = Math.min(maxIdleTimeoutMs, timeoutMs * idleTimeoutGrowth)
        await sleep(Math.min(maxWaitMs, 20 + tries))
      } finally {
        clearTimeout(timer)
      }
    }
  }

  /** Follows to the end of the task over as many connections as needed. INPUT_REQUIRED is not the end. */
  async function follow(
    one: Writable<SubscriberHistory>,
    open: (signal: AbortSignal, last: string | undefined) => ReturnType<TestWire['stream']>,
    onEvent: (event: StreamEvent) => void | Promise<void> = () => {},
  ): Promise<void> {
    const events: { seq: number; event: StreamEvent }[] = []
    one.events = events
    await persist(async (signal, isAlive) => {
      for await (const { event, id } of open(signal, events.at(-1)?.seq.toString())) {
        isAlive()
        events.push({ seq: Number(id), event })
        if (events.length === 1 && 'task' in event) one.taskId = event.task.id
        await onEvent(event)
      }
      const end = finalStateOf(one)
      if (end === undefined || !isTerminal(end)) throw new A2AError('UNAVAILABLE', `the stream ended in ${end}`)
    })
    one.finished = true
  }

  return { persist, follow }
}

/** With its causes. */
export function describeError(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  return reason.cause === undefined ? reason.message : `${reason.message}: ${describeError(reason.cause)}`
}

export function userMessage(messageId: string, text: string) {
  return { messageId, role: 'ROLE_USER', parts: [{ text }] } as const
}

export function finalStateOf({ events }: Pick<SubscriberHistory, 'events'>): TaskState | undefined {
  for (const { event } of [...events].reverse()) {
    if ('task' in event) return event.task.status.state
    if ('statusUpdate' in event) return event.statusUpdate.status.state
  }
  return undefined
}
