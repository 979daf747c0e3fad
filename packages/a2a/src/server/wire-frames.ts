/**
 * A record of a log as clients of each version are told it, for whoever looks at it later. Made by the same codecs as what is
 * sent, so that what is shown is what was said.
 */
import { jsonrpcFraming } from '../bindings/jsonrpc.ts'
import { restFraming } from '../bindings/rest.ts'
import { sseFrame } from '../bindings/sse.ts'
import { eventOf } from '../engine/event-of.ts'
import type { LogRecord } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import { versions } from '../versions/index.ts'
import type { ProtocolVersion, VersionId } from '../versions/version.ts'

export interface WireFrame {
  readonly version: VersionId
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  /** The event, as JSON. */
  readonly payload: string
  /** All of it, as a stream carries it. */
  readonly frame: string
}

/** None for what clients are not told. A question is shown as where most streams end. */
export function wireFrames(
  task: { readonly id: string; readonly contextId: string },
  { seq, body }: LogRecord,
): readonly WireFrame[] {
  const event = eventOf(task.id, task.contextId, body)
  if (event === undefined) return []
  const final =
    body.type === 'status' && (isTerminal(body.status.state) || body.status.state === 'TASK_STATE_INPUT_REQUIRED')
  return versions.flatMap((version) =>
    bindingsOf(version).map(({ binding, dialect, framing: { before, after } }): WireFrame => {
      const payload = dialect.seal(dialect.encodeEvent(event), event, final)
      return { version: version.id, binding, payload, frame: sseFrame(seq, before, payload, after) }
    }),
  )
}

function bindingsOf(version: ProtocolVersion) {
  const { json, proto, spelling } = version
  const rpc = { binding: 'JSONRPC' as const, dialect: json, framing: jsonrpcFraming(json, '1') }
  if (spelling.routes.length === 0) return [rpc]
  return [rpc, { binding: 'HTTP+JSON' as const, dialect: proto, framing: restFraming(version) }]
}
