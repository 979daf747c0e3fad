/**
 * A log record as it is sent to clients of each version, for display. It uses the same codecs as the bindings, so it shows exactly
 * what was sent.
 */
import { bindingServers, type HttpBindingName, httpBindingNames } from '../../bindings/protocol-bindings.ts'
import { sseFrame } from '../../bindings/http.ts'
import { eventOfRecord, type LogRecord } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import { versions, type VersionId } from '../../versions/index.ts'

/** One event as a client of one version and binding receives it. */
export interface WireFrame {
  readonly version: VersionId
  readonly binding: HttpBindingName
  /** The event, as JSON. */
  readonly payload: string
  /** The complete frame in a stream. */
  readonly frame: string
}

/**
 * Encodes a log record as it is sent to clients, once per version and binding. Empty for records that are not sent to
 * clients. An input request is shown as the end of the stream, where most streams end.
 */
export function wireFrames(
  task: { readonly id: string; readonly contextId: string },
  { seq, body }: LogRecord,
): readonly WireFrame[] {
  const event = eventOfRecord(task.id, task.contextId, body)
  if (event === undefined) return []
  const final =
    body.type === 'status' && (isTerminal(body.status.state) || body.status.state === 'TASK_STATE_INPUT_REQUIRED')
  return versions.flatMap((version) =>
    httpBindingNames.flatMap((binding): readonly WireFrame[] => {
      const server = bindingServers[binding]
      if (!server.isIn(version)) return []
      const dialect = server.dialectOf(version)
      const { before, after } = server.framing(version, { id: '1' })
      const payload = dialect.seal(JSON.stringify(dialect.writeEvent(event)), event, final)
      return [{ version: version.id, binding, payload, frame: sseFrame(seq, before, payload, after) }]
    }),
  )
}
