/** The log, one row per event; consecutive chunks of an artifact share one. It follows the end while the task runs, unless the user reads further up. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { LogRecord, TaskDetail } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { Menu } from '../../../components/layout/menu.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { CheckList, SearchField } from '../../../components/filters/filter-fields.tsx'
import { CheckField } from '../../../components/form/form-fields.tsx'
import { formatBytes, formatDuration, formatCount, pluralize } from '../../../components/format.ts'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { eventItem, foldChunks, type ChunkGroup } from './event-groups.ts'
import { eventContains, eventState, eventSummary } from './event-summary.ts'
import type { TaskLog } from '../detail/task-log.ts'
import { selectedSeq, selectEvent } from '../task-links.ts'
import { recordTimeMs } from '../timeline/event-axis.ts'
import './events-tab.css'

const countText = (shown: number, all: number) =>
  shown === all ? pluralize(all, 'event') : `${formatCount(shown)} of ${pluralize(all, 'event')}`

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
  const isFolded = query.value.get('chunks') !== 'all' && find === ''
  const expanded = useSignal<ReadonlySet<string>>(new Set())
  const items = useMemo(
    () =>
      isFolded
        ? foldChunks(events, { expanded: expanded.value, selected })
        : events.map((event) => eventItem(event, false)),
    [events, isFolded, expanded.value, selected],
  )
  const at =
    selected === undefined ? -1 : items.findIndex((item) => item.kind === 'event' && item.event.seq === selected)
  const startMs = Date.parse(detail.createdAt)

  function toggleGroup({ key, first, last, isOpen }: ChunkGroup): void {
    const others = [...expanded.value].filter((one) => one !== key)
    expanded.value = new Set(isOpen ? others : [...others, key])
    // Otherwise the selected event would keep the group open.
    if (isOpen && selected !== undefined && first.seq <= selected && selected <= last.seq) selectEvent(undefined)
  }
  const isRunning = !isTerminalState(detail.state)
  const newCount = leftAt.value === undefined ? 0 : Math.max(0, events.length - leftAt.value)

  return (
    <div class="fill events-tab">
      <EventFilters
        known={[...new Set([...all.map(({ type }) => type), ...types])].sort()}
        types={types}
        find={find}
        isForClients={isForClients}
        isFolded={isFolded}
        words={countText(events.length, all.length)}
      />
      {newCount > 0 && isRunning && (
        <div class="new-items at-end">
          <button
            type="button"
            class="primary"
            onClick={() => {
              if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight
            }}
          >
            {formatCount(newCount)} new
          </button>
        </div>
      )}
      {events.length === 0 ? (
        <NoEvents isLoading={!log.isComplete.value} isFromStart={log.isFromStart.value} isFiltered={all.length > 0} />
      ) : (
        <VirtualList
          items={items}
          rowHeight={rowHeight}
          label="Events"
          keyOf={({ key }) => key}
          row={(item) =>
            item.kind === 'chunks' ? (
              <ChunkGroupRow group={item} startMs={startMs} onToggle={() => toggleGroup(item)} />
            ) : (
              <EventRow
                event={item.event}
                startMs={startMs}
                isInGroup={item.isInGroup}
                isOpen={item.event.seq === selected}
                search={find}
                onToggle={() => selectEvent(item.event.seq === selected ? undefined : item.event.seq)}
              />
            )
          }
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
  readonly isFolded: boolean
  readonly words: string
}

function EventFilters({ known, types, find, isForClients, isFolded, words }: EventFiltersProps) {
  return (
    <div class="bar event-filters" role="search" aria-label="Filter events">
      <SearchField
        label="Find in events"
        placeholder="Find in events"
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
      <CheckField
        class="event-clients"
        checked={isFolded}
        onChange={(isOn) => setQuery({ chunks: isOn ? undefined : 'all' })}
      >
        Fold chunks
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
        <p>The result is kept: see the conversation. The retention settings limit how long logs are kept.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No matching events">
      <button type="button" onClick={() => setQuery({ find: undefined, types: undefined, clients: undefined })}>
        Show all events
      </button>
    </EmptyState>
  )
}

interface EventRowProps {
  readonly event: LogRecord
  readonly startMs: number
  readonly isInGroup: boolean
  readonly isOpen: boolean
  readonly search: string
  readonly onToggle: () => void
}

/** Consecutive chunks of an artifact: how many, how long they took, and the beginning of their text. */
function ChunkGroupRow({
  group,
  startMs,
  onToggle,
}: {
  readonly group: ChunkGroup
  readonly startMs: number
  readonly onToggle: () => void
}) {
  const { first, last, count, bytes, isOpen } = group
  const tookMs = recordTimeMs(last) - recordTimeMs(first)
  return (
    <div class="event event-group">
      <button type="button" class="event-line" aria-expanded={isOpen} onClick={onToggle}>
        <span class="event-seq mono faint">
          <Icon name={isOpen ? 'down' : 'next'} size={12} />
          {first.seq}
        </span>
        <span class="event-at soft" title={formatExactTime(new Date(first.at))}>
          +{formatDuration(recordTimeMs(first) - startMs)}
        </span>
        <span class="event-type">artifact</span>
        <span class="row event-words cut">
          <span class="event-chunks">
            {formatCount(count)} artifact chunks, {formatDuration(tookMs)}
          </span>
          <span class="cut faint">{eventSummary(first)}</span>
        </span>
        <span class="event-size faint">{formatBytes(bytes)}</span>
      </button>
    </div>
  )
}

/** One event: seq, time, type, size and summary; the whole record when opened. */
function EventRow({ event, startMs, isInGroup, isOpen, search, onToggle }: EventRowProps) {
  const { seq, at, type, isVisible, body } = event
  const state = eventState(event)
  return (
    <div class={`event${isOpen ? ' open' : ''}${isInGroup ? ' in-group' : ''}`}>
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
