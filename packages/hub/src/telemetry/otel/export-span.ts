/** One span of a trace as a span of OpenTelemetry, with the same ids. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type { Link, Tracer, Attributes } from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'
import type { Json, Struct } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import type { TraceSpan, TraceSpanKind } from '../traces/trace-types.ts'

/** Returns the ids of the span that is being created. */
export class FixedIdGenerator implements IdGenerator {
  traceId = ''
  spanId = ''
  generateTraceId(): string {
    return this.traceId
  }
  generateSpanId(): string {
    return this.spanId
  }
}

const otelSpanKinds: Readonly<Record<TraceSpanKind, SpanKind>> = {
  task: SpanKind.SERVER,
  turn: SpanKind.INTERNAL,
  hop: SpanKind.CLIENT,
  tool: SpanKind.INTERNAL,
  model: SpanKind.CLIENT,
  push: SpanKind.PRODUCER,
  other: SpanKind.INTERNAL,
}

export function exportSpan(tracer: Tracer, ids: FixedIdGenerator, span: TraceSpan): void {
  const { traceId, spanId, parentId, kind, attributes, events, droppedEvents, outcome = 'ok', link } = span
  ids.traceId = traceId
  ids.spanId = spanId
  const parent = parentId === undefined ? undefined : { traceId, spanId: parentId, traceFlags: TraceFlags.SAMPLED }
  const links: Link[] = link === undefined ? [] : [{ context: { ...link, traceFlags: TraceFlags.SAMPLED } }]
  const made = tracer.startSpan(
    span.name,
    {
      kind: otelSpanKinds[kind],
      // Not as a number: a time before the start of the process would be misinterpreted.
      startTime: new Date(span.startedAt),
      attributes: {
        ...otelAttributes(attributes),
        'parley.kind': kind,
        ...(outcome !== 'ok' ? { 'parley.outcome': outcome } : {}),
        ...(droppedEvents > 0 ? { 'parley.events.dropped': droppedEvents } : {}),
      },
      links,
    },
    parent === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, kind === 'task' ? { ...parent, isRemote: true } : parent),
  )
  for (const event of events) {
    const about = { ...otelAttributes(event.attributes), 'parley.event.span_id': event.spanId }
    made.addEvent(`a2a.${event.name}`, about, new Date(event.at))
  }
  if (outcome === 'error') made.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(attributes['error']) })
  made.end(new Date(span.endedAt ?? span.startedAt))
}

function messageOf(error: unknown): string {
  return typeof error === 'string' ? error : ''
}

/** OpenTelemetry attributes: the conventions for generative AI unchanged, our own under our prefix. */
const attributeNames: Readonly<Record<string, string>> = {
  taskId: 'a2a.task.id',
  state: 'a2a.task.state',
  messageId: 'a2a.message.id',
  idempotencyKey: 'a2a.message.id',
  childTaskId: 'a2a.child_task.id',
  artifactId: 'a2a.artifact.id',
  configId: 'a2a.push.config.id',
  error: 'error.message',
  said: 'parley.push.said',
}

export function otelAttributes(attributes: Struct): Attributes {
  return Object.fromEntries(Object.entries(attributes).flatMap(([name, value]) => pairsOf(nameOf(name), value)))
}

function nameOf(name: string): string {
  return attributeNames[name] ?? (name.includes('.') ? name : `parley.${snake(name)}`)
}

/** Objects are flattened by one level; deeper values become JSON. */
function pairsOf(name: string, value: Json): [string, string | number | boolean | string[] | number[]][] {
  if (value === null) return []
  if (typeof value !== 'object') return [[name, value]]
  if (Array.isArray(value)) return [[name, listOf(value)]]
  return Object.entries(value).flatMap(([inner, one]) => {
    const key = `${name}.${snake(inner)}`
    return isStruct(one) ? [[key, JSON.stringify(one)] as [string, string]] : pairsOf(key, one)
  })
}

function listOf(values: readonly Json[]): string[] | number[] {
  if (values.length > 0 && values.every((one) => typeof one === 'number')) return [...values]
  return values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

function snake(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
}
