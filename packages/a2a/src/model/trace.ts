/**
 * W3C Trace Context, as far as events need it. Nothing here is made by chance: whoever reads an event, and whoever
 * exports it as a span, comes to the same ids.
 */

const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

/** What a `traceparent` says. */
export interface TraceContext {
  readonly traceId: string
  /** Of whoever sent it: the parent of what it causes. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Nothing if it is not one. */
export function readTraceparent(traceparent: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = (traceparent === undefined ? null : traceparentForm.exec(traceparent)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Of the flags that a version may know only this one is ours to pass on. */
export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The trace that a `traceparent` names; nothing if it is not one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return readTraceparent(traceparent)?.traceId
}

/** What systems on the way keep beside a trace, to be passed on as it is; nothing if nobody could take it (512 characters). */
export function readTracestate(tracestate: string | undefined): string | undefined {
  return tracestate !== undefined && /^[\x20-\x7e]{1,512}$/.test(tracestate) ? tracestate : undefined
}

/** The trace of a task that nobody traced: its own id, which is as long as a trace's where we made it. */
export function traceIdOfTask(taskId: string): string {
  const id = taskId.replaceAll('-', '').toLowerCase()
  return /^(?!0{32})[\da-f]{32}$/.test(id) ? id : hash(taskId, 0) + hash(taskId, 1)
}

/** The span of one event: told by its task and its place there. That of the task itself is the one at 0. */
export function spanIdOfEvent(taskId: string, seq: number): string {
  return hash(taskId, seq)
}

/** The span of one turn, or of the `nth` thing that took time in it. A turn that is run again is another. */
export function spanIdOfTurn(taskId: string, turn: number, attempt: number, nth = 0): string {
  return hash(taskId, `${turn}.${attempt}.${nth}`)
}

/** The span of one try to tell a webhook of the event at `seq`: by when it began, as it may be tried anew from the first. */
export function spanIdOfPush(taskId: string, configId: string, seq: number, startedAt: number): string {
  return hash(taskId, `push.${seq}.${startedAt}.${configId}`)
}

/** 64 bits of FNV-1a as hex, never all zero: it has to differ, and not to hide anything. */
function hash(text: string, salt: number | string): string {
  let high = 0x811c9dc5
  let low = 0xcbf29ce4
  const salted = `${salt}:${text}`
  for (let at = 0; at < salted.length; at += 1) {
    const unit = salted.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit ^ (high >>> 15), 0x01000193)
  }
  return (high >>> 0).toString(16).padStart(8, '0') + ((low | 1) >>> 0).toString(16).padStart(8, '0')
}
