/**
 * W3C Trace Context, as far as events need it. No id here is random: every reader of an event, and every exporter of spans, derives
 * the same ids.
 */

const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

/** The content of a `traceparent` header (W3C Trace Context). */
export interface TraceContext {
  readonly traceId: string
  /** The span of the sender: the parent of the spans it causes. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Parses a `traceparent` header. Returns `undefined` if the text is not one. */
export function readTraceparent(traceparent: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = (traceparent === undefined ? null : traceparentForm.exec(traceparent)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Formats a `traceparent` header. Of the flags that a version may define, only `sampled` is passed on. */
export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Returns the trace id of a `traceparent` header; `undefined` if the text is not one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return readTraceparent(traceparent)?.traceId
}

/** The `tracestate` of other systems, to pass on unchanged; `undefined` if it is not valid (at most 512 characters of ASCII). */
export function readTracestate(tracestate: string | undefined): string | undefined {
  return tracestate !== undefined && /^[\x20-\x7e]{1,512}$/.test(tracestate) ? tracestate : undefined
}

/** Returns the trace id of a task without a trace: its own id if that has the form of a trace id, or a hash of it. */
export function traceIdOfTask(taskId: string): string {
  const id = taskId.replaceAll('-', '').toLowerCase()
  return /^(?!0{32})[\da-f]{32}$/.test(id) ? id : hash(taskId, 0) + hash(taskId, 1)
}

/** Returns the span id of one event, derived from its task and its seq. Seq 0 is the span of the task. */
export function spanIdOfEvent(taskId: string, seq: number): string {
  return hash(taskId, seq)
}

/** Returns the span id of one attempt of a turn, or of the `nth` step in it. */
export function spanIdOfTurn(taskId: string, turn: number, attempt: number, nth = 0): string {
  return hash(taskId, `${turn}.${attempt}.${nth}`)
}

/**
 * Returns the span id of one attempt to deliver the event at `seq` to a webhook. It includes the start time, because deliveries may
 * restart from the first event.
 */
export function spanIdOfPush(taskId: string, configId: string, seq: number, startedAt: number): string {
  return hash(taskId, `push.${seq}.${startedAt}.${configId}`)
}

/** 64 bits of FNV-1a as hex, never all zero. The ids must differ; they need not hide anything. */
function hash(text: string, salt: number | string): string {
  // Integers of 32 bits from the start: V8 computes with doubles otherwise.
  let high = 0x811c9dc5 | 0
  let low = 0xcbf29ce4 | 0
  const salted = `${salt}:${text}`
  for (let at = 0; at < salted.length; at += 1) {
    const unit = salted.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit ^ (high >>> 15), 0x01000193)
  }
  return (high >>> 0).toString(16).padStart(8, '0') + ((low | 1) >>> 0).toString(16).padStart(8, '0')
}
