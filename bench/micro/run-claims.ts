/** `npm run bench -- --micro`: measures the claims of comments, each beside what its code replaces. */
import { type Claim, claims, filesOf } from './claims.ts'

const rounds = 7
const roundMs = 40

/** Rounds of both alternate, and the fastest counts: other load only makes a round slower. */
export async function printClaims(): Promise<void> {
  for await (const claim of claims()) {
    const { now, instead } = await measure(claim)
    const ratio = instead === undefined ? '' : `, instead of ${time(instead)}: ${(instead / now).toFixed(1)} ×`
    console.log(`${claim.name}: ${time(now)}${ratio}\n    ${filesOf(claim).join(', ')}: "${claim.says}"`)
  }
}

async function measure({ now, instead }: Claim): Promise<{ now: number; instead?: number }> {
  const best = { now: Infinity, instead: Infinity }
  // The first round is for the compiler.
  for (let round = 0; round <= rounds; round += 1) {
    const ofNow = await nsOf(now)
    const ofInstead = instead === undefined ? Infinity : await nsOf(instead)
    if (round === 0) continue
    best.now = Math.min(best.now, ofNow)
    best.instead = Math.min(best.instead, ofInstead)
  }
  return instead === undefined ? { now: best.now } : best
}

/** Nanoseconds of one call. */
async function nsOf(act: () => unknown): Promise<number> {
  const isAsync = act() instanceof Promise
  let calls = 0
  let batch = 1
  const startedAt = performance.now()
  for (;;) {
    if (isAsync) for (let left = batch; left > 0; left -= 1) await act()
    else for (let left = batch; left > 0; left -= 1) sink.last = act()
    calls += batch
    const ms = performance.now() - startedAt
    if (ms >= roundMs) return (ms * 1e6) / calls
    // So that the clock is read rarely.
    if (ms < 1) batch *= 2
  }
}

/** Results go here, so that the compiler cannot remove a call without effects. */
const sink: { last?: unknown } = {}

function time(ns: number): string {
  const [value, unit] = ns < 1e3 ? [ns, 'ns'] : ns < 1e6 ? [ns / 1e3, 'µs'] : [ns / 1e6, 'ms']
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${unit}`
}
