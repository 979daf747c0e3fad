/** The log, one row per event. It follows the end while the task runs, unless the user reads further up. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { LogRecord, TaskDetail } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { Menu } from '../../../components/layout/menu.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { CheckList, SearchField } from '../../../components/filters/filter-fields.tsx'
import { CheckField } from '../../../components/form/form-fields.tsx'
import { formatBytes, formatDuration } from '../../../components/format.ts'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { eventContains, eventCountText, eventState, eventSummary } from './event-summary.ts'
import type { TaskLog } from '../detail/task-log.ts'
import { selectedSeq, selectEvent } from '../task-links.ts'
import { recordTimeMs } from '../timeline/event-axis.ts'
import './events-tab.css'

const rowHeight = 32

export function EventsTab({ detail, log }: { readonly detail: TaskDetail; readonly log: TaskLog }) {
  const all = log.events.value
  const find = query.value.get('find') ?? ''
  const types = (query.value.get('types') ?? '').split(',').filter((type) => type !== '')
  const isForClients = query.value.get('clients') === '1'
  const events = useMemo(
    () =>
      all.filter(
        (event) =>
          (types.length === 0 || types.includes(event.type)) &&
          (!isForClients || event.isVisible) &&
          eventContains(event, find),
      ),
    [all, find, types.join(), isForClients],
  )
  const scroller = useRef<HTMLDivElement>(null)
  /** The number of events when the user left the end; `undefined` while at the end. */
  const leftAt = useSignal<number | undefined>(undefined)
  const selected = selectedSeq()
  const at = selected === undefined ? -1 : events.findIndex(({ seq }) => seq === selected)
  const startMs = recordTimeMs(all[0])
  const isRunning = !isTerminalState(detail.state)
  const newCount = leftAt.value === undefined ? 0 : Math.max(0, events.length - leftAt.value)

  return (
    <div class="fill events-tab">
      <EventFilters
        known={[...new Set([...all.map(({ type }) => type), ...types])].sort()}
        types={types}
        find={find}
        isForClients={isForClients}
        words={eventCountText(events.length, all.length)}
      />
      {newCount > 0 && isRunning && (
        <button
          type="button"
          class="new-pill at-end"
          onClick={() => {
            if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight
          }}
        >
          {newCount} new
        </button>
      )}
      {events.length === 0 ? (
        <NoEvents isLoading={!log.isComplete.value} isFromStart={log.isFromStart.value} isFiltered={all.length > 0} />
      ) : (
        <VirtualList
          items={events}
          rowHeight={rowHeight}
          label="Events"
          keyOf={({ seq }) => String(seq)}
          row={(event) => (
            <EventRow
              event={event}
              startMs={startMs}
              isOpen={event.seq === selected}
              search={find}
              onToggle={() => selectEvent(event.seq === selected ? undefined : event.seq)}
            />
          )}
          selected={at < 0 ? undefined : at}
          follow={isRunning && selected === undefined}
          onBottom={(isAtEnd) => {
            if (isAtEnd) leftAt.value = undefined
            else leftAt.value ??= events.length
          }}
          scroller={scroller}
        />
      )}
    </div>
  )
}

interface EventFiltersProps {
  readonly known: readonly string[]
  readonly types: readonly string[]
  readonly find: string
  readonly isForClients: boolean
  readonly words: string
}

function EventFilters({ known, types, find, isForClients, words }: EventFiltersProps) {
  return (
    <div class="bar event-filters" role="search" aria-label="Filter the events">
      <SearchField
        label="Find in the events"
        placeholder="Find in the events"
        value={find}
        onChange={(text) => setQuery({ find: text })}
      />
      <Menu
        label="Type"
        chosen={types.length === 0 ? '' : types.length === 1 ? types[0] : String(types.length)}
        class="small"
      >
        {() => <CheckList label="Types" name="types" options={known} chosen={types} />}
      </Menu>
      <CheckField
        class="event-clients"
        checked={isForClients}
        onChange={(isOn) => setQuery({ clients: isOn ? '1' : undefined })}
      >
        Visible to clients only
      </CheckField>
      <span class="grow" />
      <span class="faint">{words}</span>
    </div>
  )
}

interface NoEventsProps {
  readonly isLoading: boolean
  readonly isFromStart: boolean
  readonly isFiltered: boolean
}

function NoEvents({ isLoading, isFromStart, isFiltered }: NoEventsProps) {
  if (isLoading) return <Loading what="events" />
  if (!isFromStart && !isFiltered) {
    return (
      <EmptyState title="The log of this task was dropped">
        <p>What it came to is kept: see the conversation. How long logs are kept is set under retention.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No event fits">
      <button type="button" onClick={() => setQuery({ find: undefined, types: undefined, clients: undefined })}>
        Show all events
      </button>
    </EmptyState>
  )
}

interface EventRowProps {
  readonly event: LogRecord
  readonly startMs: number
  readonly isOpen: boolean
  readonly search: string
  readonly onToggle: () => void
}

/** One event: seq, time, type, size and summary; the whole record when opened. */
function EventRow({ event, startMs, isOpen, search, onToggle }: EventRowProps) {
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
        <span class="row event-words cut">
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
