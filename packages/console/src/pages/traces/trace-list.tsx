/** The matching traces, newest first. */
import { useRef } from 'preact/hooks'
import type { Trace } from '../../api/admin.ts'
import { useExampleAgent } from '../../api/agents.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { usePagedList } from '../../api/use-paged-list.ts'
import type { PagedList } from '../../api/paged-list.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { navigate, query } from '../../app/router.ts'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { useListShortcuts } from '../../components/list/list-shortcuts.ts'
import { NewItemsButton, EmptyList } from '../../components/list/list-states.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../components/status/error-notice.tsx'
import { VirtualList } from '../../components/list/virtual-list.tsx'
import { sendMessageCurl } from '../../components/shell/curl.ts'
import { TraceFilterBar } from './trace-filter-bar.tsx'
import { traceFilters, traceListQuery } from './trace-filters.ts'
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
      const asked = { ...traceListQuery(filters, Date.now()), limit: pageSize }
      const page = await callAdmin('listTraces', {
        query: before === undefined ? asked : { ...asked, before: String(before) },
        signal,
      })
      return { items: page.traces, before: page.before }
    },
    onChange({ type }, { scheduleRefresh }) {
      if (type === 'task' || type === 'tasks') scheduleRefresh()
    },
  }))
  const traces = list.items.value ?? []
  const at = traces.findIndex(({ taskId, traceId }) => taskId === selected || traceId === selected)
  const view = query.value.get('view') ?? ''
  const hrefOf = (trace: Trace | undefined): string =>
    traceFilters.link(`/traces/${encodeURIComponent(trace?.taskId ?? '')}`, query.value, { view })
  const { cursor } = useListShortcuts({
    count: traces.length,
    at,
    frame,
    idOf: (index) => traces[index]?.traceId ?? '',
    open: (index) => navigate(hrefOf(traces[index]), { replace: selected !== undefined }),
    close: selected === undefined ? undefined : () => navigate(traceFilters.link('/traces', query.value)),
  })
  const neighbour = (by: number) => (): void => {
    if (at >= 0 && traces[at + by] !== undefined) navigate(hrefOf(traces[at + by]), { replace: true })
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
    <div ref={frame} class="listing traces-list">
      <TraceFilterBar filters={filters} />
      {list.problem.value !== undefined && <ErrorNotice reason={list.problem.value} retry={list.refresh} />}
      {list.items.value === undefined && list.problem.value === undefined && <Loading what="traces" />}
      {list.items.value !== undefined && traces.length === 0 && <NoTraces filters={filters} list={list} />}
      {traces.length > 0 && (
        <>
          <div class="listing-line listing-head traces-line" aria-hidden="true">
            <span>State</span>
            <span>Request</span>
            <span>Duration</span>
            <span class="traces-wide">Tasks and agents</span>
            <span class="traces-wide traces-number">Tokens</span>
            <span class="traces-wide traces-number">Cost</span>
            <span class="traces-wide traces-number">Errors</span>
            <span class="traces-number">When</span>
          </div>
          <NewItemsButton list={list} frame={frame} />
          <VirtualList
            label="Traces"
            count={traces.length}
            rowHeight={56}
            keyOf={(index) => traces[index]?.taskId ?? ''}
            selected={cursor}
            onEnd={list.continueSearch}
            onTop={list.setAtTop}
            row={(index) => {
              const trace = traces[index]
              return (
                trace !== undefined && (
                  <TraceRow
                    trace={trace}
                    index={index}
                    href={hrefOf(trace)}
                    longestMs={longest}
                    isSelected={index === at}
                  />
                )
              )
            }}
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
        <p>Each message to an agent makes one: what ran, for how long, what it used and what it cost.</p>
        {agent !== undefined && (
          <CodeBlock text={sendMessageCurl(location.origin, agent)} label="a first message" wrap />
        )}
        <a class="button" href="/playground">
          Send one from the playground
        </a>
      </EmptyState>
    </EmptyList>
  )
}
