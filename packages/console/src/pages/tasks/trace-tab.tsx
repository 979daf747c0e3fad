/** What the task did and had done, as a tree in time. The event that is selected selects the span that it happened in. */
import { useRef } from 'preact/hooks'
import type { Span, TaskDetail } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { isProblem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { query, setQuery } from '../../app/router.ts'
import { isOver } from '../../parts/state.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { Waterfall } from '../../trace/waterfall.tsx'
import { eventOfSpan, spanOfEvent } from './span-events.ts'
import type { TaskLog } from './task-log.ts'
import { selectedSeq } from './task-places.ts'

export function TraceTab({ detail, log }: { readonly detail: TaskDetail; readonly log: TaskLog }) {
  const { id, traceId } = detail
  const isRunning = useRef(false)
  isRunning.current = !isOver(detail.state)
  const resource = useResource(
    `trace ${traceId} of ${id}`,
    (signal) => call('getTrace', { params: { id: traceId }, signal }),
    // What others do for it is told under their own ids, while it runs.
    (change) => change.type === 'tasks' || (change.type === 'task' && (change.task.id === id || isRunning.current)),
  )
  const traces = resource.value.value?.traces
  if (traces === undefined) {
    if (resource.problem.value === undefined) return <Loading what="the trace" />
    return isProblem(resource.problem.value, 'NOT_FOUND') ? (
      <Empty title="There is no trace of this task" />
    ) : (
      <Trouble reason={resource.problem.value} retry={() => resource.reload()} />
    )
  }
  // Of a stranger's trace that led to several tasks, the one that this task belongs to stands first.
  const mine = traces.find(({ root }) => hasTask(root, id)) ?? traces[0]
  if (mine === undefined) return <Empty title="There is no trace of this task" />
  const roots = traces.map(({ root }) => root)
  const selected = selectedSeq()
  const byEvent = selected === undefined ? undefined : spanOfEvent(roots, id, selected, log.events.value)

  /** A span of another task has no event here; it is selected all the same. */
  function select(spanId: string): void {
    const seq = eventOfSpan(roots, id, spanId, log.events.value)
    setQuery({ span: spanId, event: seq === undefined ? undefined : String(seq) })
  }

  return (
    <div class="task-trace">
      <Waterfall
        trace={mine}
        more={traces.filter((one) => one !== mine)}
        selected={query.value.get('span') ?? byEvent}
        onSelect={select}
      />
    </div>
  )
}

function hasTask(span: Span, taskId: string): boolean {
  return span.taskId === taskId || span.children.some((child) => hasTask(child, taskId))
}
