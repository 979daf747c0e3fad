/**
 * Traces as whoever runs the hub asks for them: lists by what is noted of each task, and one as a tree, which is read from
 * the logs of its tasks and so is never older than they are.
 */
import { spanIdOfEvent, traceIdOfTask } from '@parley/a2a'
import type { Notes, PushAttempt, Store, TaskRow } from '@parley/a2a'
import type { Trace, TraceNode, TracePage, TraceQuery, Traces, TraceSpan, TraceSummary } from './contract.ts'
import { outcomeOf, TaskTrace } from './task-trace.ts'
import type { TraceIndex } from './trace-index.ts'
import { belowKey, childKey, noteIn, noteOf, rootKey, summaryOf, traceKey, traceKind } from './trace-note.ts'
import type { TraceNote } from './trace-note.ts'
import { forget } from './trace-retention.ts'
import { pushSpan, treeOf } from './trace-tree.ts'

export interface TracesParts {
  readonly store: Pick<Store, 'load' | 'read' | 'firstSeq' | 'listPush' | 'listAttempts'>
  readonly notes: Notes
  /** Brought up to date first, as far as that is quickly done. */
  readonly index: Pick<TraceIndex, 'refresh'>
}

/** Looked at in one page, however few of them match. */
const mostSearched = 2_000
const pageNotes = 100
const refreshMs = 1_000
const pageRecords = 1_000
const pageBytes = 1_000_000
/** Of one tree. */
const mostTasks = 200
const mostSpans = 10_000
const mostAttempts = 100
const mostRoots = 20

export function createTraces({ store, notes, index }: TracesParts): Traces {
  return {
    async list(query) {
      await upToDate()
      const traces: TraceSummary[] = []
      let after = query.before === undefined ? undefined : rootKey(query.before)
      for (let searched = 0; searched < mostSearched; searched += pageNotes) {
        const page = await notes.list(traceKind, {
          prefix: rootKey(''),
          descending: true,
          limit: pageNotes,
          ...(after !== undefined ? { after } : {}),
        })
        for (const note of page) {
          after = note.key
          const taskId = note.key.slice(rootKey('').length)
          const summary = summaryOf(taskId, noteIn(note) as TraceNote)
          if (!isWanted(summary, query) || !(await isThere(taskId, noteIn(note)))) continue
          traces.push(summary)
          if (traces.length === query.limit) return { traces, before: taskId }
        }
        if (page.length < pageNotes) return { traces }
      }
      return { traces, ...(after !== undefined ? { before: after.slice(rootKey('').length) } : {}) } satisfies TracePage
    },

    async get(id) {
      await upToDate()
      const roots = await tasksOf(id)
      const found = await Promise.all(roots.map((taskId) => show(taskId)))
      return found.filter((trace) => trace !== undefined)
    },
  }

  async function upToDate(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, refreshMs)
    await Promise.race([index.refresh(), late.promise])
    clearTimeout(timer)
  }

  /** A task that has gone takes its trace with it. */
  async function isThere(taskId: string, note: TraceNote | undefined): Promise<boolean> {
    if ((await store.load(taskId)) !== undefined) return true
    await forget(notes, taskId, note)
    return false
  }

  /** The task itself; or those that a trace begins with here, whoever gave it its id. */
  async function tasksOf(id: string): Promise<readonly string[]> {
    if ((await store.load(id)) !== undefined) return [id]
    if (!/^[\da-f]{32}$/.test(id)) return []
    const own = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    const named = await notes.list(traceKind, { prefix: traceKey(id, ''), limit: mostRoots })
    const isOwn = traceIdOfTask(own) === id && (await store.load(own)) !== undefined
    return [...(isOwn ? [own] : []), ...named.map(({ key }) => key.slice(traceKey(id, '').length))]
  }

  async function show(taskId: string): Promise<Trace | undefined> {
    const seen = { tasks: new Set<string>(), spans: 0, isPartial: false }
    const shown = await tree(taskId)
    if (shown === undefined) return undefined
    const { root, trace, row } = shown
    const note = noteIn(await notes.read(traceKind, rootKey(taskId)))
    // One below another's root has sums of its own only.
    const known = note ?? noteIn(await notes.read(traceKind, childKey(taskId)))
    const isDropped = known !== undefined && trace.head < known.head
    const summary = summaryOf(taskId, isDropped ? known : noteOf(trace, taskId, known))
    return { summary: { ...summary, state: row.status.state }, root, isPartial: seen.isPartial }

    async function tree(
      id: string,
    ): Promise<{ readonly root: TraceNode; readonly trace: TaskTrace; readonly row: TaskRow } | undefined> {
      if (seen.tasks.has(id)) return undefined
      if (seen.tasks.size >= mostTasks) return void (seen.isPartial = true)
      seen.tasks.add(id)
      const row = await store.load(id)
      if (row === undefined) return undefined
      const spans: TraceSpan[] = []
      const trace = await readTrace(row, spans)
      const children = await childrenOf(id, spans)
      const below: TraceNode[] = []
      for (const child of children) {
        const inner = await tree(child)
        if (inner !== undefined) below.push(inner.root)
      }
      const root = treeOf({ taskId: id, spans, below })
      return root === undefined ? undefined : { root, trace, row }
    }

    async function readTrace(row: TaskRow, spans: TraceSpan[]): Promise<TaskTrace> {
      const trace = new TaskTrace(row.id, row, (span) => {
        seen.spans += 1
        if (seen.spans <= mostSpans || span.kind === 'task') spans.push(span)
        else seen.isPartial = true
      })
      if ((await store.firstSeq(row.id)) > 1) seen.isPartial = true
      for (let more = true; more;) {
        const records = await store.read(row.id, trace.head, pageRecords, pageBytes)
        for (const record of records) trace.add(record)
        more = trace.head < row.head && records.length > 0
      }
      spans.push(...trace.unfinished())
      const rootId = spanIdOfEvent(row.id, 0)
      let root = spans.find(({ spanId }) => spanId === rootId)
      if (root === undefined) spans.push((root = bareRoot(row, trace)))
      for (const attempt of await attemptsOf(row.id)) spans.push(pushSpan(attempt, root))
      return trace
    }
  }

  /** By the calls that said so when they ended, and by what the children say of themselves. */
  async function childrenOf(taskId: string, spans: readonly TraceSpan[]): Promise<readonly string[]> {
    const named = spans.flatMap(({ attributes: { childTaskId } }) =>
      typeof childTaskId === 'string' ? [childTaskId] : [],
    )
    const noted = await notes.list(traceKind, { prefix: belowKey(taskId, ''), limit: mostTasks })
    return [...new Set([...named, ...noted.map(({ key }) => key.slice(belowKey(taskId, '').length))])]
  }

  async function attemptsOf(taskId: string): Promise<readonly PushAttempt[]> {
    const configs = await store.listPush(taskId)
    const attempts = await Promise.all(configs.map(({ id }) => store.listAttempts(taskId, id, mostAttempts)))
    return attempts.flat()
  }
}

/** Of a task whose log was dropped: what its row still says. */
function bareRoot(
  { id, status, statusAt, createdAt, agent, owner, contextId }: TaskRow,
  { traceId }: TaskTrace,
): TraceSpan {
  return {
    traceId,
    spanId: spanIdOfEvent(id, 0),
    taskId: id,
    name: `invoke_agent ${agent}`,
    kind: 'task',
    startedAt: createdAt,
    endedAt: statusAt,
    outcome: outcomeOf(status.state),
    attributes: {
      type: 'A2A_TASK',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': contextId,
      taskId: id,
      caller: owner,
      state: status.state,
    },
    events: [],
    droppedEvents: 0,
    isSampled: true,
  }
}

function isWanted(summary: TraceSummary, query: TraceQuery): boolean {
  const { agent, caller, tenant, contextId, state, status, since, until, minDurationMs, minErrors, text } = query
  const { startedAt, endedAt } = summary
  return (
    (agent === undefined || summary.agents.includes(agent)) &&
    (caller === undefined || summary.caller === caller) &&
    (tenant === undefined || summary.tenant === tenant) &&
    (contextId === undefined || summary.contextId === contextId) &&
    (state === undefined || summary.state === state) &&
    (status === undefined || summary.status === status) &&
    (since === undefined || startedAt >= since) &&
    (until === undefined || startedAt <= until) &&
    (minDurationMs === undefined || (endedAt ?? Infinity) - startedAt >= minDurationMs) &&
    (minErrors === undefined || summary.errors >= minErrors) &&
    (text === undefined || isNamed(summary, text.toLowerCase()))
  )
}

function isNamed(summary: TraceSummary, text: string): boolean {
  const { traceId, taskId, contextId, idempotencyKey, caller, agents, models, tools, error = '' } = summary
  const names = [traceId, taskId, contextId, idempotencyKey, caller, ...agents, ...models, ...tools, error]
  return names.some((name) => name.toLowerCase().includes(text))
}
