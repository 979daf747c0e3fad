/**
 * A path served with differences, for clients that follow another description of the protocol than the official one. A variant
 * changes how results, events and errors are written, which extensions are active by default and when a stream closes. It wraps a
 * version's dialect: neither the versions nor the engine know of it.
 */
import { isStruct, omitUndefined } from '../../model/struct.ts'
import { type BindingName, bindingServers } from '../../bindings/protocol-bindings.ts'
import type { StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { errorTable } from '../../model/error-table.ts'
import type { A2AError } from '../../model/error.ts'
import { taskBytes } from '../../model/json-nodes.ts'
import type { Operation } from '../../model/operation.ts'
import type { ProtocolVersion, VersionId } from '../../versions/index.ts'
import type { Dialect } from '../../versions/version.ts'

/** A JSON object as a version writes it: a task, a message, an event. */
export type WireObject = Readonly<Record<string, unknown>>

/** A request at the path of a variant. */
export interface VariantRequest {
  readonly version: VersionId
  readonly operation: Operation
  /** JSON-RPC's `params`, or REST's path, query and body in one. `undefined` until the body of a REST request is read. */
  readonly payload: unknown
}

/** A path whose responses differ from the official protocol, for clients of another description of it. */
export interface EndpointVariant {
  /** A JSON-RPC path such as `/api/a2a`, or the path above REST routes such as `/v1`. */
  readonly path: string
  /** Whether this variant serves a request. Without a payload it decides only how an error is written. */
  matches(request: VariantRequest): boolean
  /** `json`: REST results and events have the form of JSON-RPC's, with `kind` in 0.x. Default: the binding's own form. */
  readonly form?: 'json'
  /** Active for requests that name no extensions. Default: none. */
  readonly extensions?: readonly string[]
  /** Streams stay open when the task requires input. Default: the agent's option. */
  readonly keepOpenOnInputRequired?: boolean
  /** A JSON-RPC stream that cannot begin: a JSON document, or a stream whose only event is the error. Default `plain`. */
  readonly streamErrors?: 'plain' | 'event'
  /**
   * GetTask over JSON-RPC is answered by a stream if `text/event-stream` comes first in its `Accept`: the current status and
   * artifacts, then the events that follow. Default false.
   */
  readonly streamGetTask?: boolean
  /** Rewrites each task, message and event, as the version writes it. Must depend on its argument alone. */
  rewrite?(object: WireObject): WireObject
  /** Rewrites the JSON text of a stream's event, complete with what depends on the stream. */
  frame?(json: string): string
  /** Rewrites the body of a REST error. */
  errorBody?(body: WireObject, error: A2AError, httpStatus: number): WireObject
}

/** A variant for one version and binding. */
export interface CallVariant extends Pick<
  EndpointVariant,
  'extensions' | 'keepOpenOnInputRequired' | 'streamErrors' | 'streamGetTask'
> {
  readonly dialect: Dialect
}

export interface VariantFinder {
  find(
    path: string,
    binding: BindingName,
    version: ProtocolVersion,
    asked: Omit<VariantRequest, 'version'>,
  ): CallVariant | undefined
}

export function createVariantFinder(variants: readonly EndpointVariant[]): VariantFinder {
  const made = new Map<string, CallVariant>()
  return {
    find(path, binding, version, asked) {
      const variant = variants.find((one) => isBelow(path, one.path))
      if (variant === undefined || !variant.matches({ ...asked, version: version.id })) return undefined
      const key = `${version.id} ${binding} ${variant.path}`
      let call = made.get(key)
      if (call === undefined) made.set(key, (call = callVariant(variant, version, binding)))
      return call
    },
  }
}

function isBelow(path: string, of: string): boolean {
  return path.startsWith(of) && (path.length === of.length || path[of.length] === '/')
}

function callVariant(variant: EndpointVariant, version: ProtocolVersion, binding: BindingName): CallVariant {
  const base = variant.form === 'json' ? version.json : bindingServers[binding].dialectOf(version)
  return { ...variant, dialect: variantDialect(base, variant) }
}

/** Its id separates its cached bytes from those of the wrapped dialect. */
function variantDialect(base: Dialect, { path, rewrite, frame, errorBody }: EndpointVariant): Dialect {
  const rewritten = (value: unknown): unknown => {
    // A copy: `rewrite` may change it.
    const copy: unknown = rewrite === undefined ? undefined : JSON.parse(JSON.stringify(value))
    return rewrite !== undefined && isStruct(copy) ? rewrite(copy) : value
  }
  return {
    ...base,
    id: `${base.id} ${path}`,
    writeResult: (operation, result) => rewritten(base.writeResult(operation, result)),
    writeEvent: (event) => rewritten(base.writeEvent(event)),
    writesCanonicalEvents: false,
    sealsWhole: frame !== undefined,
    seal(json, event, final) {
      const sealed = base.seal(json, event, final)
      return frame === undefined ? sealed : frame(sealed)
    },
    errorBody(error) {
      const body = base.errorBody(error) as WireObject
      return errorBody === undefined ? body : errorBody(body, error, errorTable[error.code].http)
    },
  }
}

/** A subscription that begins with events in place of the task. */
export function currentStateStream(source: TaskEventStream): TaskEventStream {
  return {
    // Not a generator: a waiting one cannot be canceled.
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]()
      return {
        async next() {
          const batch = await items.next()
          return batch.done === true ? batch : { done: false, value: batch.value.flatMap(eventsOfSnapshot) }
        },
        return: async () => (await items.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}

/** Only the last event has the position: a client that has read fewer must not resume after it. */
function eventsOfSnapshot(item: StreamItem): readonly StreamItem[] {
  if (!('task' in item.event)) return [item]
  const { task } = item.event
  const { id: taskId, contextId = '', status, metadata, artifacts = [] } = task
  const statusUpdate = { taskId, contextId, status, ...omitUndefined({ metadata }) }
  const state = { event: { statusUpdate }, bytes: taskBytes({ ...task, artifacts: [], history: [] }) }
  const chunks = artifacts.map((artifact) => ({
    event: { artifactUpdate: { taskId, contextId, artifact, ...(item.final ? { lastChunk: true } : {}) } },
    bytes: taskBytes({ ...task, artifacts: [artifact], history: [] }),
  }))
  // Clients of 0.x stop reading at a final status.
  const events = item.final ? [...chunks, state] : [state, ...chunks]
  const { seq: _position, ...shared } = item
  return events.map((event, index) =>
    index === events.length - 1 ? { ...item, ...event } : { ...shared, ...event, final: false },
  )
}
