/** One target in a thread of its own, so that an input which ends the thread or never returns does not end the run. */
import { parentPort, workerData } from 'node:worker_threads'
import { runCampaign } from './campaign.ts'
import type { CampaignResult } from './campaign.ts'
import { startCoverage } from './coverage.ts'
import type { FuzzTarget } from './target.ts'

export interface WorkerInput {
  /** A module whose export `targets` lists the targets. */
  readonly module: string
  readonly target: string
  readonly inputs: number
  readonly seed: number
  readonly first: readonly Uint8Array[]
  readonly hangMs: number
  /** Default true. Coverage counters slow a loop over characters by ten times. */
  readonly hasCoverage?: boolean
}

export type WorkerMessage =
  | { readonly batch: PackedBatch }
  | { readonly done: number; readonly pool: number; readonly blocks: number }
  | { readonly result: CampaignResult }

/** The inputs of a batch in shared memory: cloned for each message, those of up to 1 MB took more time than the target. */
export interface PackedBatch {
  readonly bytes: SharedArrayBuffer
  readonly lengths: readonly number[]
}

function packBatch(batch: readonly Uint8Array[]): PackedBatch {
  const lengths = batch.map(({ length }) => length)
  const bytes = new SharedArrayBuffer(lengths.reduce((sum, length) => sum + length, 0))
  const target = new Uint8Array(bytes)
  let at = 0
  for (const input of batch) {
    target.set(input, at)
    at += input.length
  }
  return { bytes, lengths }
}

const { module, target: name, hasCoverage = true, ...order } = workerData as WorkerInput
const { targets } = (await import(module)) as { targets: readonly FuzzTarget[] }
const target = targets.find((one) => one.name === name)
if (target === undefined) throw new Error(`no target is called ${name}`)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const tell = (news: WorkerMessage): void => parentPort?.postMessage(news)
const coverage = hasCoverage ? startCoverage() : undefined
const result = await runCampaign(target, {
  ...order,
  coverage,
  timed: true,
  beforeBatch: (batch) => tell({ batch: packBatch(batch) }),
  progress: (done, pool, blocks) => {
    if (done % 4_096 < 32) tell({ done, pool, blocks })
  },
})
coverage?.stop()
tell({ result })
