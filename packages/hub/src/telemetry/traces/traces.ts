/**
 * Trace queries for operators: lists from the index, and single traces as trees, which are read from the task logs and so are
 * always current.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { isTerminal } from '@parley/a2a'
import { spanIdOfEvent, taskStates, traceIdOfTask, type PushAttempt, resultWithin } from '@parley/a2a/internal'
import type { KeyValueStore, FullStore, TaskRow } from '@parley/a2a/stores'
import type { Trace, TraceNode, TracePage, TraceQuery, Traces, TraceSpan, TraceSummary } from './trace-types.ts'
import { TaskTrace } from './task-trace.ts'
import type { TraceIndex } from './trace-index.ts'
import {
  childOfKey,
  childKey,
  traceEntryFrom,
  traceEntryOf,
  rootKey,
  traceSummaryOf,
  traceKey,
  traceIndexKind,
  type TraceIndexEntry,
  removeTraceEntry,
} from './trace-summary.ts'
import { addTimes, noTime, timePartsOf } from './time-parts.ts'
import { rootSpanFromRow, buildTraceTree, pushAttemptSpan } from './trace-tree.ts'

export interface TracesDeps {
  readonly store: Pick<FullStore, 'tasks' | 'push'>
  readonly kv: KeyValueStore
  /** Refreshed first, within a short time limit. */
  readonly index: Pick<TraceIndex, 'refresh'>
}

/** Entries read for one page, regardless of the number of matches. */
const maxSearched = 2_000
const pageSize = 100
const refreshMs = 1_000
const pageRecords = 1_000
const pageBytes = 1_000_000
/** Maximum number of tasks in one tree. */
const maxTasks = 200
const maxSpans = 10_000
const maxAttempts = 100
const maxRoots = 20
/** Of the tasks whose times are added up. */
const maxTimedTasks = 200
const maxTimedRecords = 100_000

interface ShownTask {
  readonly root: TraceNode
  readonly trace: TaskTrace
  readonly row: TaskRow
  /** Its own, without those of tasks below it. */
  readonly spans: readonly TraceSpan[]
}

export function createTraces({ store, kv, index }: TracesDeps): Traces {
  return {
    async list(query) {
      await refreshIndex()
      const traces: TraceSummary[] = []
      let after = query.before === undefined ? undefined : rootKey(query.before)
      for (let searched = 0; searched < maxSearched; searched += pageSize) {
        const page = await kv.list(traceIndexKind, {
          prefix: rootKey(''),
          descending: true,
          limit: pageSize,
          ...(after !== undefined ? { after } : {}),
        })
        for (const note of page) {
          after = note.key
          const taskId = note.key.slice(rootKey('').length)
          const summary = traceSummaryOf(taskId, traceEntryFrom(note) as TraceIndexEntry)
          if (!matchesQuery(summary, query) || !(await taskExists(taskId, traceEntryFrom(note)))) continue
          traces.push(summary)
          if (traces.length === query.limit) return { traces, before: taskId }
        }
        if (page.length < pageSize) return { traces }
      }
      return { traces, ...(after !== undefined ? { before: after.slice(rootKey('').length) } : {}) } satisfies TracePage
    },

    async get(id) {
      await refreshIndex()
      const roots = await tasksOf(id)
      const found = await Promise.all(roots.map((taskId) => show(taskId)))
      return found.filter((trace) => trace !== undefined)
    },

    async times({ agent, since, until }) {
      const states = taskStates.filter(isTerminal)
      const { tasks, more } = await store.tasks.search({ agent, states, from: since, until, limit: maxTimedTasks })
      let [times, read, records] = [noTime, 0, 0]
      for (const row of tasks) {
        if (records >= maxTimedRecords) break
        const spans: TraceSpan[] = []
        const trace = await readSpans(row, (span) => spans.push(span))
        for (const attempt of await attemptsOf(row.id))
          spans.push(pushAttemptSpan(attempt, rootSpanFromRow(row, trace)))
        times = addTimes(times, timePartsOf(spans))
        read += 1
        records += row.head
        await breathe()
      }
      return { times, tasks: read, isCut: more || read < tasks.length }
    },
  }

  /** Reads the log of a task. */
  async function readSpans(row: TaskRow, onEnded: (span: TraceSpan) => void): Promise<TaskTrace> {
    const trace = new TaskTrace(row.id, row, onEnded)
    for (let more = true; more;) {
      const records = await store.tasks.read(row.id, trace.head, pageRecords, pageBytes)
      for (const record of records) trace.add(record)
      more = trace.head < row.head && records.length > 0
    }
    return trace
  }

  async function refreshIndex(): Promise<void> {
    await resultWithin(index.refresh(), refreshMs)
  }

  /** A pruned task takes its trace with it. */
  async function taskExists(taskId: string, note: TraceIndexEntry | undefined): Promise<boolean> {
    if ((await store.tasks.load(taskId)) !== undefined) return true
    await removeTraceEntry(kv, taskId, note)
    return false
  }

  /** The task itself, or the tasks at which a trace begins here, if a caller chose the id. */
  async function tasksOf(id: string): Promise<readonly string[]> {
    if ((await store.tasks.load(id)) !== undefined) return [id]
    if (!/^[\da-f]{32}$/.test(id)) return []
    const own = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    const named = await kv.list(traceIndexKind, { prefix: traceKey(id, ''), limit: maxRoots })
    const isOwn = traceIdOfTask(own) === id && (await store.tasks.load(own)) !== undefined
    return [...(isOwn ? [own] : []), ...named.map(({ key }) => key.slice(traceKey(id, '').length))]
  }

  async function show(taskId: string): Promise<Trace | undefined> {
    const visited = { tasks: new Set<string>(), spans: 0, isPartial: false }
    const shown = await tree(taskId)
    if (shown === undefined) return undefined
    const { root, trace, row, spans } = shown
    const note = traceEntryFrom(await kv.read(traceIndexKind, rootKey(taskId)))
    // A task below another root has only its own totals.
    const known = note ?? traceEntryFrom(await kv.read(traceIndexKind, childKey(taskId)))
    const isDropped = known !== undefined && trace.head < known.head
    const summary = traceSummaryOf(taskId, isDropped ? known : traceEntryOf(trace, taskId, known))
    return {
      summary: { ...summary, state: row.status.state },
      root,
      times: timePartsOf(spans),
      isPartial: visited.isPartial,
    }

    async function tree(id: string): Promise<ShownTask | undefined> {
      if (visited.tasks.has(id)) return undefined
      if (visited.tasks.size >= maxTasks) return void (visited.isPartial = true)
      visited.tasks.add(id)
      const row = await store.tasks.load(id)
      if (row === undefined) return undefined
      const spans: TraceSpan[] = []
      const trace = await readTrace(row, spans)
      const children = await childrenOf(id, spans)
      const below: TraceNode[] = []
      for (const child of children) {
        const inner = await tree(child)
        if (inner !== undefined) below.push(inner.root)
      }
      const root = buildTraceTree({ taskId: id, spans, below })
      return root === undefined ? undefined : { root, trace, row, spans }
    }

    async function readTrace(row: TaskRow, spans: TraceSpan[]): Promise<TaskTrace> {
      const trace = await readSpans(row, (span) => {
        visited.spans += 1
        if (visited.spans <= maxSpans || span.kind === 'task') spans.push(span)
        else visited.isPartial = true
      })
      if ((await store.tasks.firstSeq(row.id)) > 1) visited.isPartial = true
      spans.push(...trace.unfinished())
      const rootId = spanIdOfEvent(row.id, 0)
      let root = spans.find(({ spanId }) => spanId === rootId)
      if (root === undefined) spans.push((root = rootSpanFromRow(row, trace)))
      for (const attempt of await attemptsOf(row.id)) spans.push(pushAttemptSpan(attempt, root))
      return trace
    }
  }

  /** From the calls that have ended, and from the children themselves. */
  async function childrenOf(taskId: string, spans: readonly TraceSpan[]): Promise<readonly string[]> {
    const named = spans.flatMap(({ attributes: { childTaskId } }) =>
      typeof childTaskId === 'string' ? [childTaskId] : [],
    )
    const noted = await kv.list(traceIndexKind, { prefix: childOfKey(taskId, ''), limit: maxTasks })
    return [...new Set([...named, ...noted.map(({ key }) => key.slice(childOfKey(taskId, '').length))])]
  }

  async function attemptsOf(taskId: string): Promise<readonly PushAttempt[]> {
    const configs = await store.push.list(taskId)
    const attempts = await Promise.all(configs.map(({ id }) => store.push.listAttempts(taskId, id, maxAttempts)))
    return attempts.flat()
  }
}

function matchesQuery(summary: TraceSummary, query: TraceQuery): boolean {
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
    (text === undefined || matchesText(summary, text.toLowerCase()))
  )
}

function matchesText(summary: TraceSummary, text: string): boolean {
  const { traceId, taskId, contextId, idempotencyKey, caller, agents, models, tools, error = '' } = summary
  const names = [traceId, taskId, contextId, idempotencyKey, caller, ...agents, ...models, ...tools, error]
  return names.some((name) => name.toLowerCase().includes(text))
}
