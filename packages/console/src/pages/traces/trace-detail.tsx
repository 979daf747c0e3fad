/** One trace: its totals, and its spans as a waterfall or its tasks as a graph. It goes on as the hub tells of its tasks. */
import { useMemo, useRef } from 'preact/hooks'
import { call, pathOf } from '../../api/call.ts'
import { now, useResource } from '../../api/resource.ts'
import { useActions } from '../../app/palette-state.ts'
import { go, query, setQuery } from '../../app/router.ts'
import { withQuery } from '../../app/address.ts'
import { Copy, copyText, Id } from '../../parts/copy.tsx'
import { DetailHead } from '../../parts/sheet.tsx'
import { State } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Loading, Trouble } from '../../parts/trouble.tsx'
import { Ago } from '../../parts/time.tsx'
import { DelegationGraph } from '../../trace/delegation-graph.tsx'
import { spansOf } from '../../trace/span-tree.ts'
import { Waterfall } from '../../trace/waterfall.tsx'
import type { ShownTrace } from '../../trace/waterfall.tsx'
import { asCurl } from '../tasks/as-curl.ts'
import { downloadJson } from '../../parts/download.ts'
import { withFilters } from './trace-filters.ts'
import { TraceTotals } from './trace-totals.tsx'
import { totalsOf, wayWords } from './totals.ts'
import './trace-detail.css'

export function TraceDetail({ id }: { readonly id: string }) {
  const back = withFilters('/traces', query.value)
  /** The tasks that it is made of, as far as is known. */
  const parts = useRef(new Set([id]))
  const found = useResource(
    id,
    (signal) => call('getTrace', { params: { id }, signal }),
    (change) => {
      if (change.type === 'task') return parts.current.has(change.task.id)
      return change.type === 'push' ? parts.current.has(change.taskId) : change.type === 'tasks'
    },
  )
  const traces = found.value.value?.traces
  for (const { root } of traces ?? []) for (const { taskId } of spansOf([root])) parts.current.add(taskId)
  const [first] = traces ?? []
  if (first === undefined) {
    return (
      <>
        <DetailHead title="Trace" backTo={back} />
        {found.problem.value === undefined ? (
          <Loading what="the trace" />
        ) : found.problem.value.code === 'NOT_FOUND' ? (
          <p class="trace-detail-none">
            There is no such trace. It may be gone with its task, or belong to another hub.
          </p>
        ) : (
          <Trouble reason={found.problem.value} retry={found.reload} />
        )}
      </>
    )
  }
  return (
    <>
      {found.problem.value !== undefined && <Trouble reason={found.problem.value} retry={found.reload} />}
      <Shown id={id} first={first} traces={traces ?? []} back={back} />
    </>
  )
}

interface ShownProps {
  readonly id: string
  readonly first: ShownTrace
  readonly traces: readonly ShownTrace[]
  readonly back: string
}

function Shown({ id, first, traces, back }: ShownProps) {
  const { summary } = first
  const isGraph = query.value.get('view') === 'graph'
  const curl = asCurl(location.origin, pathOf('getTrace', { params: { id } }))
  const roots = useMemo(() => traces.map(({ root }) => root), [traces])
  const isOpen = traces.some(({ summary: { endedAt } }) => endedAt === undefined)
  const totals = totalsOf(
    traces.map((one) => one.summary),
    isOpen ? now.value : 0,
  )
  const save = (): void => downloadJson(`trace-${summary.traceId}.json`, { traces })
  const viewHref = (view: string): string => {
    const { pathname, search } = withQuery(new URL(location.href), { view })
    return pathname + search
  }
  useActions([
    { title: 'Open the task of this trace', run: () => go(`/tasks/${summary.taskId}`) },
    { title: 'Copy the trace as curl', run: () => void copyText(curl) },
    { title: 'Export the trace as JSON', run: save },
  ])
  // Read here, so that the links follow the address.
  void query.value
  return (
    <div class="trace-detail">
      <DetailHead title={summary.title ?? summary.agent} backTo={back}>
        <State state={summary.state} />
        <a class="button small" href={`/tasks/${encodeURIComponent(summary.taskId)}`}>
          Open task
        </a>
        <Copy text={curl} label="Copy the trace as curl" class="small">
          curl
        </Copy>
        <button type="button" class="small" onClick={save}>
          Export
        </button>
      </DetailHead>
      <p class="trace-detail-line">
        <span>{summary.agent}</span>
        <span>
          for <span class="trace-detail-caller">{summary.caller}</span>
        </span>
        <Ago at={summary.startedAt} />
        <Id id={summary.traceId} what="the id of the trace" href={`/traces/${summary.traceId}`} />
      </p>
      <Origin trace={first} />
      {summary.error !== undefined && <p class="trace-detail-error">{summary.error}</p>}
      <TraceTotals totals={totals} />
      <Tabs
        label="Views of the trace"
        open={isGraph ? 'graph' : 'waterfall'}
        tabs={[
          { id: 'waterfall', label: 'Waterfall', href: viewHref('') },
          { id: 'graph', label: 'Graph', href: viewHref('graph') },
        ]}
      />
      {isGraph ? (
        <DelegationGraph roots={roots} />
      ) : (
        <Waterfall
          trace={first}
          more={traces.slice(1)}
          selected={query.value.get('span') ?? undefined}
          onSelect={(span) => setQuery({ span })}
        />
      )}
    </div>
  )
}

/** Of a task that another one made: the way to the whole. */
function Origin({ trace }: { readonly trace: ShownTrace }) {
  const { delegationContext, taskId } = trace.summary
  const root = delegationContext?.rootTaskId ?? delegationContext?.parentTaskId
  if (root === undefined || root === taskId) return null
  return (
    <p class="trace-detail-origin">
      This is a part: {wayWords(delegationContext?.visited ?? [])} handed it on.{' '}
      <a href={`/traces/${encodeURIComponent(root)}`}>Show the whole trace</a>
    </p>
  )
}
