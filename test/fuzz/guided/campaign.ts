/**
 * The loop of the fuzz for one target: an input of the pool is mutated and run; what reaches new blocks joins the pool.
 * Inputs run in batches, because a question about coverage costs more than an input. A batch that reached something new,
 * took long or broke a rule is run again one by one to find out which input did.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Coverage } from './coverage.ts'
import { longestBlockMs, mostBlockMs, threadCpuMs } from './event-loop-time.ts'
import { createMutator } from './mutate.ts'
import { mostBytes } from './mutate-bytes.ts'
import { createRandomChoices } from './random.ts'
import { keyOf } from './target.ts'
import type { Finding, FindingKind, FuzzTarget, Subject } from './target.ts'

export interface CampaignOptions {
  readonly inputs: number
  readonly seed: number
  /** Run first, as they are: seeds, corpus, regressions. */
  readonly first: readonly Uint8Array[]
  /** Left out: no feedback, the pool stays as it begins. */
  readonly coverage?: Coverage | undefined
  /** Whether inputs that hold the event loop for too long are findings. */
  readonly timed: boolean
  /** An input that is not done by then hangs. */
  readonly hangMs: number
  /** Called before each batch, so that the watching process knows what was running. */
  beforeBatch?(batch: readonly Uint8Array[]): void
  progress?(done: number, pool: number, blocks: number): void
}

export interface CampaignResult {
  readonly done: number
  readonly findings: readonly Finding[]
  /** Inputs that reached something new, in the order in which they were found. */
  readonly kept: readonly Uint8Array[]
  /** Blocks of our code that were reached; 0 without coverage. */
  readonly blocks: number
  readonly slowestMs: number
}

/** Of inputs that run one after the other: a question about coverage costs as much as a few hundred of them. */
const manyInputs = 256
/** Of inputs that run side by side, because they wait. */
const fewInputs = 32
/** State of earlier inputs must not hide what a fresh subject would show. */
const inputsPerSubject = 4_000

export async function runCampaign(target: FuzzTarget, options: CampaignOptions): Promise<CampaignResult> {
  const { inputs, seed, first, coverage, timed, hangMs } = options
  const random = createRandomChoices(seed)
  const mutate = createMutator(target.format, target.dictionary, random)
  const findings = new Map<string, Finding>()
  const kept: Uint8Array[] = []
  const pool: Uint8Array[] = first.length === 0 ? [new Uint8Array()] : [...first]
  const seen = new Set<string>()
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  process.on('uncaughtException', onUnhandled)
  let subject = await target.open()
  let used = 0
  let done = 0
  let slowestMs = 0
  let isSlow = false
  try {
    const queue = [...first]
    while (done < inputs) {
      const size = Math.min(target.isSync === true ? manyInputs : fewInputs, inputs - done)
      const batch = Array.from({ length: size }, () => queue.shift() ?? mutate(chosen(), random.pick(pool)))
      if (used > inputsPerSubject) {
        await subject.close?.()
        subject = await target.open()
        used = 0
      }
      options.beforeBatch?.(batch)
      await runBatch(batch)
      done += size
      used += size
      options.progress?.(done, pool.length, seen.size)
    }
    await subject.close?.()
    await nextTurn()
    for (const reason of unhandled.splice(0)) note('unhandled', messageOf(reason), new Uint8Array())
  } finally {
    process.off('unhandledRejection', onUnhandled)
    process.off('uncaughtException', onUnhandled)
  }
  return { done, findings: [...findings.values()], kept, blocks: seen.size, slowestMs }

  /** What was found last leads further more often than what was there from the start. */
  function chosen(): Uint8Array {
    const recent = Math.min(pool.length, 64)
    return random.chance(0.4) ? (pool[pool.length - 1 - random.below(recent)] as Uint8Array) : random.pick(pool)
  }

  async function runBatch(batch: readonly Uint8Array[]): Promise<void> {
    const { outcomes, slow } = target.isSync === true ? await runInTurn(batch) : await runTogether(batch)
    const isUnhandled = unhandled.splice(0).length > 0
    for (const [index, reason] of outcomes.entries()) {
      if (reason !== undefined) await confirm(batch[index] as Uint8Array, reason)
    }
    if (isUnhandled) await findUnhandled(batch)
    // One is enough to know that there is something to look at, and asking for more takes as long each time.
    if (timed && !isSlow) await findSlow(slow)
    if (coverage !== undefined) await findNew(batch, coverage)
  }

  /** Each is timed by itself. */
  async function runInTurn(batch: readonly Uint8Array[]): Promise<BatchOutcome> {
    const outcomes: (Failure | undefined)[] = []
    const slow: Uint8Array[] = []
    let lastMs = threadCpuMs()
    for (const input of batch) {
      outcomes.push(await outcomeOf(subject, input, hangMs))
      const nowMs = threadCpuMs()
      if (nowMs - lastMs > mostBlockMs / 2) slow.push(input)
      lastMs = nowMs
    }
    return { outcomes, slow }
  }

  /** Whose time it was is not known; if it was much, any of them may have to be asked alone. */
  async function runTogether(batch: readonly Uint8Array[]): Promise<BatchOutcome> {
    const beforeMs = threadCpuMs()
    const outcomes = await Promise.all(batch.map((input) => outcomeOf(subject, input, hangMs)))
    return { outcomes, slow: threadCpuMs() - beforeMs > mostBlockMs ? batch : [] }
  }

  /** An outcome that a fresh subject does not show again is reported all the same, with the subject's past as a reason. */
  async function confirm(input: Uint8Array, reason: Failure): Promise<void> {
    const { kind, message } = reason
    if (findings.has(keyOf({ target: target.name, kind, message, input }))) return
    // Each try to make a hang smaller would hang as long.
    if (kind === 'hang') return note(kind, message, input)
    note(
      kind,
      message,
      await smallest(input, async (smaller) => (await outcomeOf(subject, smaller, hangMs))?.kind === kind),
    )
  }

  async function findUnhandled(batch: readonly Uint8Array[]): Promise<void> {
    for (const input of batch) {
      await outcomeOf(subject, input, hangMs)
      await nextTurn()
      const [reason] = unhandled.splice(0)
      if (reason !== undefined) return note('unhandled', messageOf(reason), input)
    }
    note('unhandled', 'by one of a batch, and not again', batch[0] as Uint8Array)
  }

  async function findSlow(batch: readonly Uint8Array[]): Promise<void> {
    for (const input of batch) {
      if (input.length >= mostBytes) continue
      options.beforeBatch?.([input])
      const before = threadCpuMs()
      await outcomeOf(subject, input, hangMs)
      const cpuMs = threadCpuMs() - before
      slowestMs = Math.max(slowestMs, Math.min(cpuMs, mostBlockMs))
      const mostMs = target.mostBlockMs?.(input) ?? mostBlockMs
      if (cpuMs <= mostMs) continue
      const blockMs = await longestBlockMs(() => subject.run(input), mostMs)
      slowestMs = Math.max(slowestMs, blockMs)
      if (blockMs <= mostMs) continue
      note('slow', `held the event loop for ${Math.round(blockMs)} ms`, input, blockMs / mostMs)
      isSlow = true
      return
    }
  }

  async function findNew(batch: readonly Uint8Array[], { take }: Coverage): Promise<void> {
    const fresh = new Map(
      take()
        .blocks.filter(({ key }) => !seen.has(key))
        .map((block) => [block.key, block]),
    )
    for (const key of fresh.keys()) seen.add(key)
    if (fresh.size > 0) await search(batch)

    /** Whose blocks they are is found by halves: mostly one input of a batch is new, or a few. */
    async function search(some: readonly Uint8Array[]): Promise<void> {
      if (fresh.size === 0) return
      // The whole search may take longer than the watching process waits for a sign of life.
      options.beforeBatch?.(some)
      for (const input of some) await outcomeOf(subject, input, hangMs)
      const { covers } = take()
      const reached = [...fresh.values()].filter(covers)
      if (reached.length === 0) return
      const [input] = some
      if (some.length === 1 && input !== undefined) {
        for (const { key } of reached) fresh.delete(key)
        kept.push(input)
        pool.push(input)
        return
      }
      const middle = some.length >> 1
      await search(some.slice(0, middle))
      await search(some.slice(middle))
    }
  }

  function note(kind: FindingKind, message: string, input: Uint8Array, slowness?: number): void {
    const finding = { target: target.name, kind, message, input, ...(slowness !== undefined ? { slowness } : {}) }
    if (!findings.has(keyOf(finding))) findings.set(keyOf(finding), finding)
  }
}

interface BatchOutcome {
  readonly outcomes: readonly (Failure | undefined)[]
  /** Inputs that may have held the event loop for too long. */
  readonly slow: readonly Uint8Array[]
}

interface Failure {
  readonly kind: 'violation' | 'hang'
  readonly message: string
}

async function outcomeOf(subject: Subject, input: Uint8Array, hangMs: number): Promise<Failure | undefined> {
  try {
    const running = subject.run(input)
    if (running === undefined) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<Failure>((resolve) => {
      timer = setTimeout(() => resolve({ kind: 'hang', message: `not done after ${hangMs} ms` }), hangMs)
    })
    return (await Promise.race([running, late]).finally(() => clearTimeout(timer))) ?? undefined
  } catch (reason) {
    return { kind: 'violation', message: messageOf(reason) }
  }
}

export function messageOf(reason: unknown): string {
  return reason instanceof Error ? `${reason.name}: ${reason.message}\n${reason.stack ?? ''}` : String(reason)
}

/** Cuts ranges out while it still fails: what is left is what matters. */
async function smallest(input: Uint8Array, fails: (input: Uint8Array) => Promise<boolean>): Promise<Uint8Array> {
  let best = input
  let tries = 300
  for (let size = Math.ceil(best.length / 2); size >= 1 && tries > 0; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && tries > 0; tries -= 1) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      if (await fails(shorter)) best = shorter
      else at += size
    }
  }
  return best
}
