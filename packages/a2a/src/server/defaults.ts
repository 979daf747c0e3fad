/** The defaults of all options, in one place so that they can be read and documented. */
import type { AgentOptions } from '../engine/contract.ts'
import { defaultIdempotencyWindowMs } from '../model/idempotency.ts'
import { defaultJsonNodes } from '../model/json-nodes.ts'
import type { Limits } from './options.ts'

export const defaultServerLimits: Limits = {
  bodyBytes: 20_000_000,
  jsonNodes: defaultJsonNodes,
  parts: 1_000,
  metadataDepth: 32,
  tasksPerCaller: 10_000,
  streamsPerCaller: 2_000,
  unsentBytes: 256_000_000,
  unsentBytesPerCaller: 64_000_000,
  // Longer than the default turn timeout, so that a waiting client gets the final state and not an intermediate one (B-67).
  waitMs: 600_000,
}

export const defaultAgentOptions: AgentOptions = {
  turnTimeoutMs: 300_000,
  whenBusy: 'queue',
  cancelGraceMs: 5_000,
  openAfterMs: 250,
  coalesceText: true,
  keepOpenOnInputRequired: false,
  idempotencyWindowMs: defaultIdempotencyWindowMs,
}

export const keepAliveMs = 15_000
/** Interval of the sweep for due work: turn timeouts and input timeouts. A local timer fires earlier if there is one. */
export const sweepMs = 1_000
export const stallMs = 30_000
export const cardMaxAgeSeconds = 300
