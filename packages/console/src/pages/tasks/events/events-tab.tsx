/** The log, one row per event. It follows the end while the task runs, unless the user reads further up. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { TaskDetail } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { Menu } from '../../../components/layout/menu.tsx'
import { SearchField } from '../../../components/filters/search-field.tsx'
import { isTerminalState } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { EventRow } from './event-row.tsx'
import { eventCountText, eventContains } from './event-summary.ts'
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
    <div class="events-tab">
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
          count={events.length}
          rowHeight={rowHeight}
          label="Events"
          keyOf={(index) => String(events[index]?.seq)}
          row={(index) => {
            const event = events[index]
            return event === undefined ? null : (
              <EventRow
                event={event}
                startMs={startMs}
                isOpen={event.seq === selected}
                search={find}
                onToggle={() => selectEvent(event.seq === selected ? undefined : event.seq)}
              />
            )
          }}
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
    <div class="event-filters" role="search" aria-label="Filter the events">
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
        {() => (
          <fieldset class="task-states">
            <legend class="unseen">Types</legend>
            {known.map((type) => (
              <label key={type} class="menu-check">
                <input
                  type="checkbox"
                  checked={types.includes(type)}
                  onChange={(event) => {
                    const others = types.filter((one) => one !== type)
                    setQuery({ types: (event.currentTarget.checked ? [...others, type] : others).join(',') })
                  }}
                />
                {type}
              </label>
            ))}
          </fieldset>
        )}
      </Menu>
      <label class="event-clients">
        <input
          type="checkbox"
          checked={isForClients}
          onChange={(event) => setQuery({ clients: event.currentTarget.checked ? '1' : undefined })}
        />
        Visible to clients only
      </label>
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
