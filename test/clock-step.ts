import { readFileSync } from 'node:fs'

/*
 * Steps the wall clock of a process, as an operator, NTP or a resumed virtual machine does.
 *
 *   PARLEY_CLOCK_OFFSET_FILE=/path/offset node --import ./test/clock-step.ts main.ts
 *
 * The file holds a number of milliseconds, negative for a step back. It is added to `Date.now()`, `new Date()` and `Date()`;
 * the monotonic clock (`performance.now()`, timers) does not change, as on a real machine. Until the file exists the offset is 0. The file is
 * read again at most every 5 ms, so a call that begins 5 ms after a write uses the new offset. Write it with a rename or in
 * one piece: what is not a number is ignored. Workers of the process inherit the preload; SQLite's own `now` is not stepped.
 */

const path = process.env.PARLEY_CLOCK_OFFSET_FILE
if (path === undefined)
  throw new Error('Set PARLEY_CLOCK_OFFSET_FILE to the file that holds the offset in milliseconds')

const RealDate = Date
const realNow = Date.now
const readEveryMs = 5

let offsetMs = 0
let readAt = -Infinity

function currentOffset(from: string): number {
  const at = performance.now()
  if (at - readAt < readEveryMs) return offsetMs
  readAt = at
  try {
    const text = readFileSync(from, 'utf8').trim()
    const value = Number(text)
    if (text !== '' && Number.isFinite(value)) offsetMs = value
  } catch {
    // Not written yet, or being replaced: the offset stays.
  }
  return offsetMs
}

const steppedNow = (): number => realNow() + currentOffset(path)

RealDate.now = steppedNow
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [steppedNow()] : args, newTarget) as object,
  apply: () => new RealDate(steppedNow()).toString(),
})
RealDate.prototype.constructor = globalThis.Date
