/** One event: seq, time, type, size and summary; the whole record when opened. */
import type { LogRecord } from '../../../api/admin.ts'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { TaskStateBadge } from '../../../components/status/task-state.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { formatBytes, formatDuration } from '../../../components/format.ts'
import { eventState, eventSummary } from './event-summary.ts'
import { recordTimeMs } from '../timeline/event-axis.ts'

export interface EventRowProps {
  readonly event: LogRecord
  readonly startMs: number
  readonly isOpen: boolean
  readonly search: string
  readonly onToggle: () => void
}

export function EventRow({ event, startMs, isOpen, search, onToggle }: EventRowProps) {
  const { seq, at, type, isVisible, body } = event
  const state = eventState(event)
  return (
    <div class={isOpen ? 'event open' : 'event'}>
      <button type="button" class="event-line" aria-expanded={isOpen} onClick={onToggle}>
        <span class="event-seq mono faint">{seq}</span>
        <span class="event-at soft" title={formatExactTime(new Date(at))}>
          +{formatDuration(recordTimeMs(event) - startMs)}
        </span>
        <span class={isVisible ? 'event-type' : 'event-type inner'}>{type}</span>
        <span class="event-words cut">
          {state !== undefined && <TaskStateBadge state={state} />}
          <span class="cut">{eventSummary(event)}</span>
        </span>
        <span class="event-size faint">{formatBytes(event.bytes)}</span>
      </button>
      {isOpen && (
        <div class="event-body">
          <JsonTreeView value={body} open={6} search={search} />
        </div>
      )}
    </div>
  )
}
