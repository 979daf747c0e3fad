/**
 * How long an input holds the event loop, in CPU time of this thread, so that a busy machine does not count. Several runs,
 * of which the shortest counts: what an input costs it costs every time, a collection of garbage it does not.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** For an input under a megabyte. */
export const mostBlockMs = 50
const runs = 5

export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The longest stretch without a turn of the event loop, at its shortest over a few runs, or over fewer if one is short enough. */
export async function longestBlockMs(run: () => void | Promise<void>, enoughMs: number): Promise<number> {
  let shortest = Infinity
  for (let count = 0; count < runs && shortest > enoughMs; count += 1) shortest = Math.min(shortest, await measure(run))
  return shortest
}

async function measure(run: () => void | Promise<void>): Promise<number> {
  await nextTurn()
  let longest = 0
  let last = threadCpuMs()
  let isDone = false
  const look = (): void => {
    const now = threadCpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  await settled(run)
  isDone = true
  look()
  return longest
}

/** What it throws is for others to judge. */
async function settled(run: () => void | Promise<void>): Promise<void> {
  try {
    await run()
  } catch {}
}
