/** The matching traces, newest first. */
import { useRef } from 'preact/hooks'
import type { Trace } from '../../api/admin.ts'
import { useExampleAgent } from '../../api/agents.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { usePagedList } from '../../api/use-paged-list.ts'
import type { PagedList } from '../../api/paged-list.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { clearQuery, navigate, query, setQuery } from '../../app/router.ts'
import { AgentSelect, SearchField } from '../../components/filters/filter-fields.tsx'
import { CheckField, SelectField } from '../../components/form/form-fields.tsx'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { useListShortcuts } from '../../components/list/list-shortcuts.ts'
import { NewItemsButton, EmptyList } from '../../components/list/list-states.tsx'
import { Menu } from '../../components/layout/menu.tsx'
import { EmptyState, LoadState } from '../../components/status/error-notice.tsx'
import { VirtualList } from '../../components/list/virtual-list.tsx'
import { sendMessageCurl } from '../../components/shell/curl.ts'
import {
  traceDurationOptions,
  traceFilters,
  traceListQuery,
  traceStatusOptions,
  traceTimeOptions,
} from './trace-filters.ts'
import type { TraceFilters } from './trace-filters.ts'
import { TraceRow } from './trace-row.tsx'
import { longestDurationMs } from './sum-traces.ts'

const pageSize = 100

export function TraceList({
  filters,
  selected,
}: {
  readonly filters: TraceFilters
  readonly selected: string | undefined
}) {
  const frame = useRef<HTMLDivElement>(null)
  const list = usePagedList<Trace>(JSON.stringify(filters), () => ({
    keyOf: ({ taskId }) => taskId,
    async load(before, signal) {
      const asked = { ...traceListQuery(filters, Date.now()), limit: pageSize, before: before?.toString() }
      const page = await callAdmin('listTraces', { query: asked, signal })
      return { items: page.traces, before: page.before }
    },
    onChange({ type }, { scheduleRefresh }) {
      if (type === 'task' || type === 'tasks') scheduleRefresh()
    },
  }))
  const traces = list.items.value ?? []
  const at = traces.findIndex(({ taskId, traceId }) => taskId === selected || traceId === selected)
  const view = query.value.get('view') ?? ''
  const hrefOf = ({ taskId }: Trace): string =>
    traceFilters.link(`/traces/${encodeURIComponent(taskId)}`, query.value, { view })
  const { cursor } = useListShortcuts({
    items: traces,
    keyOf: ({ taskId }) => taskId,
    noun: 'trace',
    at,
    frame,
    idOf: ({ traceId }) => traceId,
    open: (trace) => navigate(hrefOf(trace), { replace: selected !== undefined }),
    close: selected === undefined ? undefined : () => navigate(traceFilters.link('/traces', query.value)),
  })
  const neighbour = (by: number) => (): void => {
    const next = at < 0 ? undefined : traces[at + by]
    if (next !== undefined) navigate(hrefOf(next), { replace: true })
  }
  useShortcuts(
    selected === undefined
      ? []
      : [
          { key: ']', label: 'Next trace', run: neighbour(1) },
          { key: '[', label: 'Previous trace', run: neighbour(-1) },
        ],
  )
  const longest = longestDurationMs(traces)

  return (
    <div ref={frame} class="fill traces-list">
      <TraceFilterBar filters={filters} />
      <LoadState of={{ value: list.items, problem: list.problem, reload: list.refresh }} what="traces" />
      {list.items.value !== undefined && traces.length === 0 && <NoTraces filters={filters} list={list} />}
      {traces.length > 0 && (
        <>
          <div class="listing-line listing-head traces-line" aria-hidden="true">
            <span>State</span>
            <span>Request</span>
            <span>Duration</span>
            <span class="traces-wide">Tasks and agents</span>
            <span class="traces-wide number">Tokens</span>
            <span class="traces-wide number">Cost</span>
            <span class="traces-wide number">Errors</span>
            <span class="number">Started</span>
          </div>
          <NewItemsButton list={list} frame={frame} />
          <VirtualList
            label="Traces"
            items={traces}
            rowHeight={56}
            keyOf={({ taskId }) => taskId}
            selected={cursor}
            onEnd={list.continueSearch}
            onTop={list.setAtTop}
            row={(trace, index) => (
              <TraceRow trace={trace} href={hrefOf(trace)} longestMs={longest} isSelected={index === at} />
            )}
          />
        </>
      )}
    </div>
  )
}

function NoTraces({ filters, list }: { readonly filters: TraceFilters; readonly list: PagedList<Trace> }) {
  const agent = useExampleAgent()
  return (
    <EmptyList list={list} what="trace" filters={traceFilters.names} isFiltered={traceFilters.isSet(filters)}>
      <EmptyState title="No traces yet">
        <p>Every message to an agent creates a trace: what ran, how long it took, what it used and what it cost.</p>
        {agent !== undefined && <CodeBlock text={sendMessageCurl(location.origin, agent)} label="first message" wrap />}
        <a class="button" href="/playground">
          Open playground
        </a>
      </EmptyState>
    </EmptyList>
  )
}

function TraceFilterBar({ filters }: { readonly filters: TraceFilters }) {
  const choices = <Choices filters={filters} />
  const chosen = traceFilters.names.filter((name) => name !== 'text' && query.value.get(name) !== null).length
  return (
    <search class="bar toolbar" aria-label="Filter traces">
      <SearchField
        label="Filter by text"
        placeholder="Id, agent, model, tool or error"
        value={filters.text}
        onChange={(text) => setQuery({ text })}
      />
      <div class="traces-filters">{choices}</div>
      {/* The same filters for narrow screens. */}
      <div class="traces-folded">
        <Menu label="Filters" chosen={chosen === 0 ? '' : String(chosen)} side="right">
          {() => choices}
        </Menu>
      </div>
    </search>
  )
}

function Choices({ filters }: { readonly filters: TraceFilters }) {
  return (
    <>
      <AgentSelect value={filters.agent} anyText="All agents" onChange={(agent) => setQuery({ agent })} />
      <SelectField
        label="Status"
        value={filters.status}
        options={traceStatusOptions}
        onChange={(status) => setQuery({ status })}
      />
      <SelectField
        label="Time"
        value={filters.time}
        options={traceTimeOptions}
        onChange={(time) => setQuery({ time })}
      />
      <SelectField
        label="Duration"
        value={filters.longer}
        options={[['', 'Any duration'], ...traceDurationOptions]}
        onChange={(longer) => setQuery({ longer })}
      />
      <CheckField
        class="traces-check"
        checked={filters.errors}
        onChange={(isOn) => setQuery({ errors: isOn ? 'yes' : '' })}
      >
        With errors
      </CheckField>
      {traceFilters.isSet(filters) && (
        <button type="button" class="plain" onClick={() => clearQuery(traceFilters.names)}>
          Clear filters
        </button>
      )}
    </>
  )
}
