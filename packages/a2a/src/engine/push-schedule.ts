/**
 * When to call a webhook again: soon at first, then ever less often over hours, and never all at once (B-128). Pure, so
 * the schedule can be read and tested without waiting.
 */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long to wait after the first failure, the second, and so on. After the last comes the dead letter. */
export const defaultScheduleMs: readonly number[] = [
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

/** A receiver that wants to be left alone for longer is asked again after this long all the same. */
const longestWishMs = 24 * hour
/** So much earlier or later, that those who failed together do not come back together. */
const spread = 0.2

/** How long to wait after `failures` failures in a row, or `undefined` to give up. */
export function retryDelay(
  failures: number,
  scheduleMs: readonly number[],
  wishMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const planned = scheduleMs[failures - 1]
  if (planned === undefined) return undefined
  const spreadOut = planned * (1 - spread + 2 * spread * random())
  return Math.round(Math.max(spreadOut, Math.min(wishMs, longestWishMs)))
}
