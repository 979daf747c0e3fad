/** The spans of a trace as lines, and a short description of each. Pure. */
import type { Span } from '../api/admin.ts'
import type { StatusDisplay } from '../components/status/task-state.tsx'

export interface SpanLine {
  readonly span: Span
  readonly depth: number
  /** The number of descendants at any depth. */
  readonly descendantCount: number
  readonly isFolded: boolean
}

export interface SpanTimeRange {
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
}

/** Top to bottom, without the descendants of folded spans. */
export function spanLines(roots: readonly Span[], folded: ReadonlySet<string>): readonly SpanLine[] {
  const lines: SpanLine[] = []
  const sizes = sizesOf(roots)
  function add(span: Span, depth: number): void {
    const below = (sizes.get(span) ?? 1) - 1
    const isFolded = below > 0 && folded.has(span.spanId)
    lines.push({ span, depth, descendantCount: below, isFolded })
    if (!isFolded) for (const child of span.children) add(child, depth + 1)
  }
  for (const root of roots) add(root, 0)
  return lines
}

function sizesOf(roots: readonly Span[]): ReadonlyMap<Span, number> {
  const sizes = new Map<Span, number>()
  function size(span: Span): number {
    let sum = 1
    for (const child of span.children) sum += size(child)
    sizes.set(span, sum)
    return sum
  }
  for (const root of roots) size(root)
  return sizes
}

/** All spans, in the order of the lines. */
export function flattenSpans(roots: readonly Span[]): readonly Span[] {
  return spanLines(roots, new Set()).map(({ span }) => span)
}

/** The ancestors, outermost first, and the span itself; empty if it does not exist. */
export function spanPath(roots: readonly Span[], spanId: string): readonly Span[] {
  for (const root of roots) {
    if (root.spanId === spanId) return [root]
    const inside = spanPath(root.children, spanId)
    if (inside.length > 0) return [root, ...inside]
  }
  return []
}

/** A running span ends now. */
export function spanTimeRange({ startedAt, endedAt }: Pick<Span, 'startedAt' | 'endedAt'>, now: number): SpanTimeRange {
  const from = Date.parse(startedAt)
  return { from, to: Math.max(from, endedAt === undefined ? now : Date.parse(endedAt)) }
}

/** From the first start to the last end; webhooks are delivered after a task has ended, too. */
export function totalTimeRange(spans: readonly Span[], now: number): SpanTimeRange {
  let [from, to] = [Infinity, -Infinity]
  for (const span of spans) {
    const one = spanTimeRange(span, now)
    from = Math.min(from, one.from)
    to = Math.max(to, one.to)
  }
  return from === Infinity ? { from: now, to: now } : { from, to }
}

export function isSpanRunning({ endedAt }: Pick<Span, 'endedAt'>): boolean {
  return endedAt === undefined
}

export function spanTaskState({ attributes }: Span): string | undefined {
  return stringAttribute(attributes, 'state')
}

/** The status as a colour, a shape and a word, each sufficient by itself. */
export function spanStatus(span: Span): StatusDisplay {
  if (isSpanRunning(span)) {
    return /_(INPUT|AUTH)_REQUIRED$/.test(spanTaskState(span) ?? '')
      ? { tone: 'waiting', shape: '◇', word: 'waiting' }
      : { tone: 'working', shape: '◐', word: 'running' }
  }
  if (span.outcome === 'error') return { tone: 'failed', shape: '✕', word: 'failed' }
  if (span.outcome === 'canceled') return { tone: 'ended', shape: '–', word: 'canceled' }
  return { tone: 'done', shape: '●', word: 'ok' }
}

export interface SpanLabel {
  /** The type: `task`, `tool`, `model`, … Empty if the name says it. */
  readonly type: string
  readonly name: string
}

export function spanLabel({ kind, name, attributes }: Span): SpanLabel {
  switch (kind) {
    case 'task':
      return {
        type: 'task',
        name: stringAttribute(attributes, 'gen_ai.agent.name') ?? name.replace(/^invoke_agent /, ''),
      }
    case 'turn': {
      const attempt = numberAttribute(attributes, 'attempt') ?? 1
      return { type: 'turn', name: `${name.replace(/^turn /, '')}${attempt > 1 ? `, attempt ${attempt}` : ''}` }
    }
    case 'hop':
      return {
        type: name.startsWith('call ') ? 'call' : 'delegate',
        name: stringAttribute(attributes, 'agent') ?? name,
      }
    case 'tool':
      return {
        type: 'tool',
        name: stringAttribute(attributes, 'gen_ai.tool.name') ?? name.replace(/^execute_tool /, ''),
      }
    case 'model':
      return {
        type: 'model',
        name:
          stringAttribute(attributes, 'gen_ai.response.model') ??
          stringAttribute(attributes, 'gen_ai.request.model') ??
          name,
      }
    case 'push':
      return { type: 'push', name: stringAttribute(attributes, 'said') ?? name }
    default:
      return { type: '', name }
  }
}

export interface SpanUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number | undefined
}

export function spanUsage({ attributes }: Span): SpanUsage {
  return {
    inputTokens: numberAttribute(attributes, 'gen_ai.usage.input_tokens') ?? 0,
    outputTokens: numberAttribute(attributes, 'gen_ai.usage.output_tokens') ?? 0,
    cost: numberAttribute(attributes, 'gen_ai.usage.cost'),
  }
}

/** Why the span failed, if it reports a reason. */
export function spanError({ attributes, kind, outcome }: Span): string | undefined {
  if (outcome !== 'error') return undefined
  const pushText = kind === 'push' ? stringAttribute(attributes, 'said') : undefined
  return stringAttribute(attributes, 'error') ?? stringAttribute(attributes, 'error.type') ?? pushText
}

/** The child task that a call to another agent created. */
export function spanChildTask({ kind, attributes }: Span): string | undefined {
  return kind === 'hop' ? stringAttribute(attributes, 'childTaskId') : undefined
}

/** `undefined` for an empty string. */
export function stringAttribute(attributes: Span['attributes'], name: string): string | undefined {
  const value = attributes[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function numberAttribute(attributes: Span['attributes'], name: string): number | undefined {
  const value = attributes[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
