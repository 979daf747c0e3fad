/** The delegations in a trace: its tasks, or the agents that ran them, and the calls between them. Pure. */
import type { Span } from '../api/admin.ts'
import { spanChildTask, spanTaskState, spanTimeRange, stringAttribute, spanUsage, spanLabel } from './span-tree.ts'

export interface DelegationNode {
  readonly id: string
  readonly agent: string
  /** `elsewhere`: an agent of another hub. `unseen`: its task is not part of the trace shown. */
  readonly kind: 'task' | 'elsewhere' | 'unseen'
  readonly taskIds: readonly string[]
  /** The state of the task; for an agent with several, the state that most needs attention. */
  readonly state: string | undefined
  readonly durationMs: number
  readonly tokens: number
  readonly cost: number | undefined
  /** The number of failed spans of its own. */
  readonly errors: number
}

export interface DelegationEdge {
  readonly from: string
  readonly to: string
  readonly calls: number
  /** The sum over all calls. */
  readonly durationMs: number
  readonly errors: number
  readonly isRunning: boolean
}

export interface Delegation {
  readonly nodes: readonly DelegationNode[]
  readonly edges: readonly DelegationEdge[]
}

export type Grouping = 'task' | 'agent'

/** One node per task, or one per agent. */
export function delegationOf(roots: readonly Span[], by: Grouping, now: number): Delegation {
  const found = readTasks(roots, now)
  return by === 'task' ? found : byAgent(found)
}

function readTasks(roots: readonly Span[], now: number): Delegation {
  const nodes = new Map<string, DelegationNode>()
  const edges = new Map<string, DelegationEdge>()

  function connect(from: string, to: string, hop: Span, isCall: boolean): void {
    const key = `${from} ${to}`
    const before = edges.get(key)
    // A child task without a known call adds an edge only if there is none: its call has not ended yet.
    if (before !== undefined && !isCall) return
    edges.set(key, joinEdges({ from, to, ...edgeOf(hop, now) }, before))
  }

  /** `taskId` is the task that the span belongs to. */
  function walk(span: Span, taskId: string, within: Span): void {
    if (span.kind === 'task') {
      nodes.set(span.taskId, nodeOf(span, now))
      if (taskId !== '') connect(taskId, span.taskId, within.kind === 'hop' ? within : span, false)
      for (const child of span.children) walk(child, span.taskId, span)
      return
    }
    if (span.outcome === 'error' && span.kind !== 'turn') addError(taskId)
    if (span.kind === 'hop') call(span, taskId)
    for (const child of span.children) walk(child, taskId, span)
  }

  function call(hop: Span, taskId: string): void {
    const child = spanChildTask(hop) ?? hop.children.find(({ kind }) => kind === 'task')?.taskId
    const id = child ?? `${hop.name} of ${taskId}`
    if (!nodes.has(id)) nodes.set(id, externalNode(id, hop, child))
    connect(taskId, id, hop, true)
  }

  function addError(taskId: string): void {
    const node = nodes.get(taskId)
    if (node !== undefined) nodes.set(taskId, { ...node, errors: node.errors + 1 })
  }

  for (const root of roots) walk(root, '', root)
  return { nodes: [...nodes.values()], edges: [...edges.values()] }
}

function nodeOf(span: Span, now: number): DelegationNode {
  const { from, to } = spanTimeRange(span, now)
  const { inputTokens, outputTokens, cost } = spanUsage(span)
  return {
    id: span.taskId,
    agent: spanLabel(span).name,
    kind: 'task',
    taskIds: [span.taskId],
    state: spanTaskState(span),
    durationMs: to - from,
    tokens: inputTokens + outputTokens,
    cost,
    errors: 0,
  }
}

function externalNode(id: string, hop: Span, taskId: string | undefined): DelegationNode {
  return {
    id,
    agent: stringAttribute(hop.attributes, 'agent') ?? hop.name,
    kind: taskId === undefined && hop.name.startsWith('call ') ? 'elsewhere' : 'unseen',
    taskIds: taskId === undefined ? [] : [taskId],
    state: undefined,
    durationMs: 0,
    tokens: 0,
    cost: undefined,
    errors: 0,
  }
}

function edgeOf(hop: Span, now: number): Omit<DelegationEdge, 'from' | 'to'> {
  const { from, to } = spanTimeRange(hop, now)
  const isRunning = hop.endedAt === undefined
  return { calls: 1, durationMs: to - from, errors: hop.outcome === 'error' ? 1 : 0, isRunning }
}

function joinEdges(edge: DelegationEdge, before: DelegationEdge | undefined): DelegationEdge {
  if (before === undefined) return edge
  return {
    ...edge,
    calls: before.calls + edge.calls,
    durationMs: before.durationMs + edge.durationMs,
    errors: before.errors + edge.errors,
    isRunning: before.isRunning || edge.isRunning,
  }
}

function byAgent({ nodes, edges }: Delegation): Delegation {
  const idOf = new Map(nodes.map((node) => [node.id, `${node.kind} ${node.agent}`]))
  const agents = new Map<string, DelegationNode>()
  for (const node of nodes) {
    const id = idOf.get(node.id) ?? node.id
    agents.set(id, joinNodes({ ...node, id }, agents.get(id)))
  }
  const calls = new Map<string, DelegationEdge>()
  for (const edge of edges) {
    const [from, to] = [idOf.get(edge.from) ?? edge.from, idOf.get(edge.to) ?? edge.to]
    const key = `${from} ${to}`
    calls.set(key, joinEdges({ ...edge, from, to }, calls.get(key)))
  }
  return { nodes: [...agents.values()], edges: [...calls.values()] }
}

function joinNodes(node: DelegationNode, before: DelegationNode | undefined): DelegationNode {
  if (before === undefined) return node
  const hasCost = node.cost !== undefined || before.cost !== undefined
  return {
    ...node,
    taskIds: [...before.taskIds, ...node.taskIds],
    state: urgency(node.state) > urgency(before.state) ? node.state : before.state,
    durationMs: before.durationMs + node.durationMs,
    tokens: before.tokens + node.tokens,
    cost: hasCost ? (before.cost ?? 0) + (node.cost ?? 0) : undefined,
    errors: before.errors + node.errors,
  }
}

const statesByUrgency = [
  'COMPLETED',
  'CANCELED',
  'SUBMITTED',
  'WORKING',
  'AUTH_REQUIRED',
  'INPUT_REQUIRED',
  'REJECTED',
  'FAILED',
]

function urgency(state: string | undefined): number {
  return statesByUrgency.indexOf((state ?? '').replace('TASK_STATE_', ''))
}
