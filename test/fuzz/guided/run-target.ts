/** Runs one target in a thread and watches it from outside: what ends the thread or blocks it for good is a finding, too. */
import { Worker } from 'node:worker_threads'
import type { CampaignResult } from './campaign.ts'
import type { Finding } from './target.ts'
import type { PackedBatch, WorkerMessage, WorkerInput } from './worker.ts'

export interface RunOptions extends WorkerInput {
  progress?(done: number, pool: number, blocks: number): void
}

/** A thread may be silent for so many times `hangMs`: a batch whose inputs all hang is reported by the thread itself. */
const silences = 3

export async function runTarget(options: RunOptions): Promise<CampaignResult> {
  const ended = await runThread(options)
  if ('result' in ended) {
    const { result } = ended
    const findings = await Promise.all(result.findings.map((finding) => isConfirmed(finding, options)))
    return { ...result, findings: result.findings.filter((_, index) => findings[index]) }
  }
  // Which input of the batch did it: each gets a thread of its own.
  for (const input of ended.batch) {
    const alone = await runThread({ ...options, inputs: 1, first: [input] })
    if ('batch' in alone) return failed(options.target, alone.kind, alone.message, input)
    const [finding] = alone.result.findings
    if (finding !== undefined) return failed(options.target, finding.kind, finding.message, finding.input)
  }
  return failed(
    options.target,
    ended.kind,
    `${ended.message} (none of the batch does it alone)`,
    Buffer.concat(ended.batch),
  )
}

/** Runs of a slow input without coverage counters: enough for the compiler. */
const confirmingRuns = 16
/** The counters do not explain more than this: the input is slow after those before it. */
const certainSlowness = 10

/** A slow input counts if it is slow without the counters, too. */
async function isConfirmed({ kind, input, slowness = 0 }: Finding, options: RunOptions): Promise<boolean> {
  if (kind !== 'slow' || slowness > certainSlowness) return true
  const first = Array.from({ length: confirmingRuns }, () => input)
  const alone = await runThread({ ...options, inputs: confirmingRuns, first, hasCoverage: false })
  return !('result' in alone) || alone.result.findings.some((finding) => finding.kind === 'slow')
}

type ThreadResult =
  | { readonly result: CampaignResult }
  | { readonly batch: readonly Uint8Array[]; readonly kind: 'hang' | 'crash'; readonly message: string }

function runThread({ progress, ...order }: RunOptions): Promise<ThreadResult> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: order })
    let batch: PackedBatch = { bytes: new SharedArrayBuffer(0), lengths: [] }
    let timer = setTimeout(() => {}, 0)
    const watch = (): void => {
      clearTimeout(timer)
      timer = setTimeout(
        () => finish({ batch: unpackBatch(batch), kind: 'hang', message: 'the thread does not answer' }),
        order.hangMs * silences,
      )
    }
    const finish = (ended: ThreadResult): void => {
      clearTimeout(timer)
      resolve(ended)
      void worker.terminate()
    }
    watch()
    worker.on('message', (news: WorkerMessage) => {
      watch()
      if ('batch' in news) batch = news.batch
      else if ('result' in news) finish(news)
      else progress?.(news.done, news.pool, news.blocks)
    })
    worker.on('error', (reason: Error) =>
      finish({ batch: unpackBatch(batch), kind: 'crash', message: `${reason.message}\n${reason.stack}` }),
    )
    worker.on('exit', (code) =>
      finish({ batch: unpackBatch(batch), kind: 'crash', message: `the thread ended with ${code}` }),
    )
  })
}

function unpackBatch({ bytes, lengths }: PackedBatch): readonly Uint8Array[] {
  let end = 0
  return lengths.map((length) => new Uint8Array(bytes).slice(end, (end += length)))
}

function failed(target: string, kind: Finding['kind'], message: string, input: Uint8Array): CampaignResult {
  return { done: 0, findings: [{ target, kind, message, input }], kept: [], blocks: 0, slowestMs: 0 }
}
