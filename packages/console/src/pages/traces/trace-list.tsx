/** The traces that fit, the newest first. */
import { useRef } from 'preact/hooks'
import type { Trace } from '../../api/admin.ts'
import { useExampleAgent } from '../../api/agents.ts'
import { call } from '../../api/call.ts'
import { usePaged } from '../../api/paged.ts'
import type { Paged } from '../../api/paged.ts'
import { useKeys } from '../../app/keys.ts'
import { go, query } from '../../app/router.ts'
import { Code } from '../../parts/code.tsx'
import { useListKeys } from '../../parts/list-keys.ts'
import { NewOnes, NothingFound } from '../../parts/listing.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { sendAsCurl } from '../tasks/as-curl.ts'
import { TraceFilterBar } from './trace-filter-bar.tsx'
import { askFor, filterNames, isFiltered, withFilters } from './trace-filters.ts'
import type { TraceFilters } from './trace-filters.ts'
import { TraceRow } from './trace-row.tsx'
import { longestOf } from './totals.ts'

const pageSize = 100

export function TraceList({
  filters,
  selected,
}: {
  readonly filters: TraceFilters
  readonly selected: string | undefined
}) {
  const frame = useRef<HTMLDivElement>(null)
  const list = usePaged<Trace>(JSON.stringify(filters), {
    keyOf: ({ taskId }) => taskId,
    async load(before, signal) {
      const asked = { ...askFor(filters, Date.now()), limit: pageSize }
      const page = await call('listTraces', {
        query: before === undefined ? asked : { ...asked, before: String(before) },
        signal,
      })
      return { items: page.traces, before: page.before }
    },
    concerns: ({ type }) => type === 'task' || type === 'tasks',
  })
  const traces = list.items.value ?? []
  const at = traces.findIndex(({ taskId, traceId }) => taskId === selected || traceId === selected)
  const view = query.value.get('view') ?? ''
  const hrefOf = (trace: Trace | undefined): string =>
    withFilters(`/traces/${encodeURIComponent(trace?.taskId ?? '')}`, query.value, { view })
  const { cursor } = useListKeys({
    count: traces.length,
    at,
    frame,
    idOf: (index) => traces[index]?.traceId ?? '',
    open: (index) => go(hrefOf(traces[index]), { replace: selected !== undefined }),
    close: selected === undefined ? undefined : () => go(withFilters('/traces', query.value)),
  })
  const neighbour = (by: number) => (): void => {
    if (at >= 0 && traces[at + by] !== undefined) go(hrefOf(traces[at + by]), { replace: true })
  }
  useKeys(
    selected === undefined
      ? []
      : [
          { key: ']', does: 'Next trace', run: neighbour(1) },
          { key: '[', does: 'Previous trace', run: neighbour(-1) },
        ],
  )
  const longest = longestOf(traces)

  return (
    <div ref={frame} class="listing traces-list">
      <TraceFilterBar filters={filters} />
      {list.problem.value !== undefined && <Trouble reason={list.problem.value} retry={list.reload} />}
      {list.items.value === undefined && list.problem.value === undefined && <Loading what="traces" />}
      {list.items.value !== undefined && traces.length === 0 && <Nothing filters={filters} list={list} />}
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
          <NewOnes list={list} frame={frame} />
          <VirtualList
            label="Traces"
            count={traces.length}
            rowHeight={56}
            keyOf={(index) => traces[index]?.taskId ?? ''}
            selected={cursor}
            onEnd={list.more}
            onTop={list.top}
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

function Nothing({ filters, list }: { readonly filters: TraceFilters; readonly list: Paged<Trace> }) {
  const agent = useExampleAgent()
  return (
    <NothingFound list={list} what="trace" filters={filterNames} isFiltered={isFiltered(filters)}>
      <Empty title="No traces yet">
        <p>Each message to an agent makes one: what ran, for how long, what it used and what it cost.</p>
        {agent !== undefined && <Code text={sendAsCurl(location.origin, agent)} label="a first message" wrap />}
        <a class="button" href="/playground">
          Send one from the playground
        </a>
      </Empty>
    </NothingFound>
  )
}
