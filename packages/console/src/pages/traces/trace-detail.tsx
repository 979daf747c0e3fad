/** One trace: its totals, and its spans as a waterfall. Updated live by the change feed. */
import { useRef } from 'preact/hooks'
import type { Trace } from '../../api/admin.ts'
import { callAdmin, adminPath } from '../../api/admin-client.ts'
import { now, useResource } from '../../api/resource.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { navigate, query, setQuery } from '../../app/router.ts'
import { CopyButton, copyText, CopyableId } from '../../components/content/copy-button.tsx'
import { DetailHead, Fact } from '../../components/layout/page-head.tsx'
import { TaskStateBadge } from '../../components/status/task-state.tsx'
import { FailedChildLink, FailureNotice, Loading, ErrorNotice } from '../../components/status/error-notice.tsx'
import { currentTaskTimes, exactTimesText } from '../../components/status/task-time.tsx'
import { formatCost, formatCount, formatDuration, pluralize } from '../../components/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { flattenSpans } from '../../trace/span-tree.ts'
import { Waterfall, type TraceTree } from '../../trace/waterfall.tsx'
import { adminCurl } from '../../components/shell/curl.ts'
import { downloadJson } from '../../components/content/download.ts'
import { traceFilters } from './trace-filters.ts'
import { sumTraces, delegationPathText, timedTrace, type TraceSums } from './sum-traces.ts'
import './trace-detail.css'

export function TraceDetail({ id }: { readonly id: string }) {
  const back = traceFilters.link('/traces', query.value)
  /** The known tasks of the trace. */
  const parts = useRef(new Set([id]))
  const found = useResource(
    id,
    (signal) => callAdmin('getTrace', { params: { id }, signal }),
    (change) => {
      if (change.type === 'task') return parts.current.has(change.task.id)
      return change.type === 'push' ? parts.current.has(change.taskId) : change.type === 'tasks'
    },
  )
  const traces = found.value.value?.traces
  for (const { root } of traces ?? []) for (const { taskId } of flattenSpans([root])) parts.current.add(taskId)
  const [first] = traces ?? []
  if (first === undefined) {
    return (
      <>
        <DetailHead title="Trace" backTo={back} />
        {found.problem.value === undefined ? (
          <Loading what="trace" />
        ) : found.problem.value.code === 'NOT_FOUND' ? (
          <p class="trace-detail-none">
            Trace not found. It may have been removed with its task, or belong to another hub.
          </p>
        ) : (
          <ErrorNotice reason={found.problem.value} retry={found.reload} />
        )}
      </>
    )
  }
  return (
    <>
      {found.problem.value !== undefined && <ErrorNotice reason={found.problem.value} retry={found.reload} />}
      <LoadedTrace id={id} first={first} traces={traces ?? []} back={back} />
    </>
  )
}

interface LoadedTraceProps {
  readonly id: string
  readonly first: TraceTree
  readonly traces: readonly TraceTree[]
  readonly back: string
}

function LoadedTrace({ id, first, traces, back }: LoadedTraceProps) {
  const { summary } = first
  const curl = adminCurl(location.origin, adminPath('getTrace', { params: { id } }))
  const isOpen = traces.some(({ summary: { endedAt } }) => endedAt === undefined)
  const totals = sumTraces(
    traces.map((one) => one.summary),
    isOpen ? now.value : 0,
  )
  const save = (): void => downloadJson(`trace-${summary.traceId}.json`, { traces })
  usePaletteActions([
    { title: 'Open the task of this trace', run: () => navigate(`/tasks/${summary.taskId}`) },
    { title: 'Copy the trace as curl', run: () => void copyText(curl) },
    { title: 'Export the trace as JSON', run: save },
  ])
  return (
    <div class="fill trace-detail">
      <DetailHead title={summary.title ?? summary.agent} backTo={back}>
        <TaskStateBadge state={summary.state} />
        <a class="button small" href={`/tasks/${encodeURIComponent(summary.taskId)}`}>
          Open task
        </a>
        <CopyButton text={curl} label="Copy trace as curl" class="small">
          curl
        </CopyButton>
        <button type="button" class="small" onClick={save}>
          Export
        </button>
      </DetailHead>
      <p class="trace-detail-line">
        <span>{summary.agent}</span>
        <span class="trace-detail-caller" title={summary.caller}>
          called by {summary.callerName ?? summary.caller}
        </span>
        <RelativeTime at={summary.startedAt} />
        <CopyableId id={summary.traceId} what="trace id" href={`/traces/${summary.traceId}`} />
      </p>
      <Origin trace={first} />
      {summary.error !== undefined && (
        <FailureNotice
          title={summary.error}
          cause={summary.cause}
          isLive={false}
          label="Failure"
          actions={summary.failedChild && <FailedChildLink failedChild={summary.failedChild} />}
        />
      )}
      <TraceTotals totals={totals} root={traces.length === 1 ? summary : undefined} />
      <Waterfall
        trace={first}
        more={traces.slice(1)}
        selected={query.value.get('span') ?? undefined}
        onSelect={(span) => setQuery({ span })}
      />
    </div>
  )
}

/** For a child task: a link to the whole trace. */
function Origin({ trace }: { readonly trace: TraceTree }) {
  const { delegationContext, taskId } = trace.summary
  const root = delegationContext?.rootTaskId ?? delegationContext?.parentTaskId
  if (root === undefined || root === taskId) return null
  return (
    <p class="trace-detail-origin">
      {`Part of a larger trace, delegated by ${delegationPathText(delegationContext?.visited ?? [])}. `}
      <a href={`/traces/${encodeURIComponent(root)}`}>Show the whole trace</a>
    </p>
  )
}

/** The totals of a trace, in one line. */
function TraceTotals({ totals, root }: { readonly totals: TraceSums; readonly root: Trace | undefined }) {
  const { durationMs, tasks, turns, errors, inputTokens, outputTokens, agents, models, tools } = totals
  return (
    <dl class="trace-totals">
      <DurationFacts durationMs={durationMs} root={root} />
      <NameCount noun={['Agent', 'Agents']} names={agents} />
      <Fact name="Tasks">
        {formatCount(tasks)} <span class="faint">{pluralize(turns, 'turn')}</span>
      </Fact>
      {inputTokens + outputTokens > 0 && (
        <Fact name="Tokens">
          {formatCount(inputTokens)} <span class="faint">in</span> {formatCount(outputTokens)}{' '}
          <span class="faint">out</span>
        </Fact>
      )}
      {totals.cost !== undefined && <Fact name="Cost">{formatCost(totals.cost)}</Fact>}
      <NameCount noun={['Model', 'Models']} names={models} />
      <NameCount noun={['Tool', 'Tools']} names={tools} />
      <Fact name="Errors">{errors === 0 ? 'None' : <span class="traces-errors">✕ {formatCount(errors)}</span>}</Fact>
    </dl>
  )
}

/** Of a trace with one root, the numbers of its task: working time apart from waiting time. */
function DurationFacts({ durationMs, root }: { readonly durationMs: number; readonly root: Trace | undefined }) {
  const times = root === undefined ? undefined : currentTaskTimes(timedTrace(root))
  if (times === undefined || times.waitingMs === 0) {
    return <Fact name="Duration">{formatDuration(times?.totalMs ?? durationMs)}</Fact>
  }
  return (
    <>
      <Fact name="Working" title={exactTimesText(times)}>
        {formatDuration(times.workingMs)}
      </Fact>
      <Fact name="Waiting" title={exactTimesText(times)}>
        {formatDuration(times.waitingMs)}
      </Fact>
    </>
  )
}

interface NameCountProps {
  readonly noun: readonly [one: string, several: string]
  readonly names: readonly string[]
}

/** One or two names, or their number. */
function NameCount({ noun: [one, several], names }: NameCountProps) {
  if (names.length === 0) return null
  return (
    <Fact name={names.length === 1 ? one : several} title={names.join(', ')}>
      {names.length <= 2 ? names.join(', ') : formatCount(names.length)}
    </Fact>
  )
}
