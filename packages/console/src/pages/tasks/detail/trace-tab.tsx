/** The trace of the task as a waterfall. The selected event selects the span that it happened in. */
import { useRef } from 'preact/hooks'
import type { Span, TaskDetail } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { isTerminalState } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { TimePartsBar } from '../../../trace/time-parts.tsx'
import { Waterfall } from '../../../trace/waterfall.tsx'
import { eventOfSpan, spanOfEvent } from './span-events.ts'
import type { TaskLog } from './task-log.ts'
import { selectedSeq } from '../task-links.ts'

export function TraceTab({ detail, log }: { readonly detail: TaskDetail; readonly log: TaskLog }) {
  const { id, traceId } = detail
  const isRunning = useRef(false)
  isRunning.current = !isTerminalState(detail.state)
  const resource = useResource(
    `trace ${traceId} of ${id}`,
    (signal) => callAdmin('getTrace', { params: { id: traceId }, signal }),
    // Child tasks change under their own ids while this task runs.
    (change) => change.type === 'tasks' || (change.type === 'task' && (change.task.id === id || isRunning.current)),
  )
  const traces = resource.value.value?.traces
  if (traces === undefined) {
    if (resource.problem.value === undefined) return <Loading what="trace" />
    return isProblem(resource.problem.value, 'NOT_FOUND') ? (
      <EmptyState title="No trace of this task" />
    ) : (
      <ErrorNotice reason={resource.problem.value} retry={() => resource.reload()} />
    )
  }
  // An external trace may include several tasks; the tree with this task comes first.
  const ownTrace = traces.find(({ root }) => hasTask(root, id)) ?? traces[0]
  if (ownTrace === undefined) return <EmptyState title="No trace of this task" />
  const roots = traces.map(({ root }) => root)
  const selected = selectedSeq()
  const byEvent = selected === undefined ? undefined : spanOfEvent(roots, id, selected, log.events.value)

  /** A span of another task has no event here; it can be selected nevertheless. */
  function select(spanId: string): void {
    const seq = eventOfSpan(roots, id, spanId, log.events.value)
    setQuery({ span: spanId, event: seq === undefined ? undefined : String(seq) })
  }

  return (
    <div class="fill task-trace">
      <TimePartsBar times={ownTrace.times} />
      <Waterfall
        trace={ownTrace}
        more={traces.filter((one) => one !== ownTrace)}
        selected={query.value.get('span') ?? byEvent}
        onSelect={select}
      />
    </div>
  )
}

function hasTask(span: Span, taskId: string): boolean {
  return span.taskId === taskId || span.children.some((child) => hasTask(child, taskId))
}
