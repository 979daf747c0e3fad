/**
 * When to retry a webhook: soon at first, then ever less often over hours, and never all at once (B-128). Pure, so that the
 * schedule can be tested without waiting.
 */
import { jittered } from '../../model/backoff.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The delays after the first failure, the second, and so on. After the last comes the dead letter. */
export const defaultRetryScheduleMs: readonly number[] = [
  second,
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
]

/** If a receiver requests a longer delay, it is retried after this time anyway. */
const maxRequestedDelayMs = 24 * hour

/** The delay after `failures` consecutive failures, or `undefined` to give up. */
export function pushRetryDelay(
  failures: number,
  scheduleMs: readonly number[],
  requestedDelayMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const planned = scheduleMs[failures - 1]
  if (planned === undefined) return undefined
  return Math.max(jittered(planned, random), Math.min(requestedDelayMs, maxRequestedDelayMs))
}
