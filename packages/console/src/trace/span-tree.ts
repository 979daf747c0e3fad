/** The spans of a trace as lines, one under the other, and what each of them is in a few words. Pure. */
import type { Span } from '../api/admin.ts'

export interface Line {
  readonly span: Span
  readonly depth: number
  /** How many stand below it, at any depth. */
  readonly below: number
  readonly isFolded: boolean
}

export interface Stretch {
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
}

export type Tone = 'working' | 'waiting' | 'done' | 'failed' | 'ended'

/** Top to bottom; what is inside those that are folded is left out. */
export function linesOf(roots: readonly Span[], folded: ReadonlySet<string>): readonly Line[] {
  const lines: Line[] = []
  const sizes = sizesOf(roots)
  function add(span: Span, depth: number): void {
    const below = (sizes.get(span) ?? 1) - 1
    const isFolded = below > 0 && folded.has(span.spanId)
    lines.push({ span, depth, below, isFolded })
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

/** All of them, in the order of the lines. */
export function spansOf(roots: readonly Span[]): readonly Span[] {
  return linesOf(roots, new Set()).map(({ span }) => span)
}

/** Those above it, the outermost first, and itself; none if it is not there. */
export function pathTo(roots: readonly Span[], spanId: string): readonly Span[] {
  for (const root of roots) {
    if (root.spanId === spanId) return [root]
    const inside = pathTo(root.children, spanId)
    if (inside.length > 0) return [root, ...inside]
  }
  return []
}

/** What goes on ends now. */
export function stretchOf({ startedAt, endedAt }: Pick<Span, 'startedAt' | 'endedAt'>, now: number): Stretch {
  const from = Date.parse(startedAt)
  return { from, to: Math.max(from, endedAt === undefined ? now : Date.parse(endedAt)) }
}

/** From the first beginning to the last end; webhooks are told after a task has ended, too. */
export function wholeStretch(spans: readonly Span[], now: number): Stretch {
  let [from, to] = [Infinity, -Infinity]
  for (const span of spans) {
    const one = stretchOf(span, now)
    from = Math.min(from, one.from)
    to = Math.max(to, one.to)
  }
  return from === Infinity ? { from: now, to: now } : { from, to }
}

export function isRunning({ endedAt }: Pick<Span, 'endedAt'>): boolean {
  return endedAt === undefined
}

export function stateOf({ attributes }: Span): string | undefined {
  return text(attributes, 'state')
}

/** How it stands: colour, shape and word, each enough by itself. */
export function lookOfSpan(span: Span): { readonly tone: Tone; readonly shape: string; readonly word: string } {
  if (isRunning(span)) {
    return /_(INPUT|AUTH)_REQUIRED$/.test(stateOf(span) ?? '')
      ? { tone: 'waiting', shape: '◇', word: 'waiting' }
      : { tone: 'working', shape: '◐', word: 'running' }
  }
  if (span.outcome === 'error') return { tone: 'failed', shape: '✕', word: 'failed' }
  if (span.outcome === 'canceled') return { tone: 'ended', shape: '–', word: 'canceled' }
  return { tone: 'done', shape: '●', word: 'ok' }
}

export interface SpanWords {
  /** What sort of thing it is: `task`, `tool`, `model`, … Empty where its name says it. */
  readonly sort: string
  readonly name: string
}

export function wordsOf({ kind, name, attributes }: Span): SpanWords {
  switch (kind) {
    case 'task':
      return { sort: 'task', name: text(attributes, 'gen_ai.agent.name') ?? name.replace(/^invoke_agent /, '') }
    case 'turn': {
      const attempt = number(attributes, 'attempt') ?? 1
      return { sort: 'turn', name: `${name.replace(/^turn /, '')}${attempt > 1 ? `, try ${attempt}` : ''}` }
    }
    case 'hop':
      return { sort: name.startsWith('call ') ? 'call' : 'delegate', name: text(attributes, 'agent') ?? name }
    case 'tool':
      return { sort: 'tool', name: text(attributes, 'gen_ai.tool.name') ?? name.replace(/^execute_tool /, '') }
    case 'model':
      return {
        sort: 'model',
        name: text(attributes, 'gen_ai.response.model') ?? text(attributes, 'gen_ai.request.model') ?? name,
      }
    case 'push':
      return { sort: 'push', name: text(attributes, 'said') ?? name }
    default:
      return { sort: '', name }
  }
}

export interface Used {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number | undefined
}

export function usedBy({ attributes }: Span): Used {
  return {
    inputTokens: number(attributes, 'gen_ai.usage.input_tokens') ?? 0,
    outputTokens: number(attributes, 'gen_ai.usage.output_tokens') ?? 0,
    cost: number(attributes, 'gen_ai.usage.cost'),
  }
}

/** Why it failed, if it says so. */
export function errorOf({ attributes, kind, outcome }: Span): string | undefined {
  if (outcome !== 'error') return undefined
  const said = kind === 'push' ? text(attributes, 'said') : undefined
  return text(attributes, 'error') ?? text(attributes, 'error.type') ?? said
}

/** The task that a call of another agent made. */
export function childTaskOf({ kind, attributes }: Span): string | undefined {
  return kind === 'hop' ? text(attributes, 'childTaskId') : undefined
}

/** Nothing for an empty one. */
export function text(attributes: Span['attributes'], name: string): string | undefined {
  const value = attributes[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function number(attributes: Span['attributes'], name: string): number | undefined {
  const value = attributes[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
