/**
 * W3C Trace Context, as far as events need it. Nothing here is made by chance: whoever reads an event, and whoever
 * exports it as a span, comes to the same ids.
 */

const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** The trace that a `traceparent` names; nothing if it is not one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : traceparentForm.exec(traceparent)?.[1]
}

/** The trace of a task that nobody traced: its own id, which is as long as a trace's where we made it. */
export function traceIdOfTask(taskId: string): string {
  const id = taskId.replaceAll('-', '').toLowerCase()
  return /^(?!0{32})[\da-f]{32}$/.test(id) ? id : hash(taskId, 0) + hash(taskId, 1)
}

/** The span of one event: told by its task and its place there. */
export function spanIdOfEvent(taskId: string, seq: number): string {
  return hash(taskId, seq)
}

/** The span of one turn, or of the `nth` thing that took time in it. A turn that is run again is another. */
export function spanIdOfTurn(taskId: string, turn: number, attempt: number, nth = 0): string {
  return hash(taskId, `${turn}.${attempt}.${nth}`)
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
