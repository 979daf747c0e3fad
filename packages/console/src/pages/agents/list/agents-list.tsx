/** The list of agents: kind, health, calls, errors, last use, current work and last error. Sorted as the address says. */
import { useRef } from 'preact/hooks'
import type { Agent } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { formatCompact } from '../../../components/format.ts'
import { RelativeTime } from '../../../components/time.tsx'
import { formatShare } from '../../../components/stats/stat-charts.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { SearchField } from '../../../components/filters/filter-fields.tsx'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { useListShortcuts } from '../../../components/list/list-shortcuts.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { agentFilters, agentKinds, agentTags, matchesAgentFilters, type AgentFilters } from './agent-filters.ts'
import { errorRate, firstOrder, nextOrder, parseAgentOrder, sortAgents, sortColumns } from './agent-order.ts'
import type { AgentOrder, SortColumn } from './agent-order.ts'
import { AgentError } from '../agent-error.tsx'
import { agentPath } from '../../../agent/agent-path.ts'
import { agentStatus, loadText } from '../../../agent/agent-status.ts'
import { agentsListStrings as strings } from './strings.ts'
import './agents-list.css'
import '../../../components/status/tags.css'

export interface AgentsListProps {
  readonly agents: Resource<readonly Agent[]>
  readonly selected: string | undefined
  readonly tab: string | undefined
  /** The filters, as a query string. */
  readonly search: string
}

export function AgentsList({ agents, selected, tab, search }: AgentsListProps) {
  const filter = agentFilters.read(query.value)
  const all = agents.value.value
  const order = parseAgentOrder(query.value.get('sort') ?? '')
  const shown = sortAgents(
    (all ?? []).filter((agent) => matchesAgentFilters(agent, filter)),
    order,
  )
  const chosen = shown.findIndex(({ name }) => name === selected)
  const frame = useRef<HTMLDivElement>(null)
  const { cursor } = useListShortcuts({
    items: shown,
    keyOf: ({ name }) => name,
    noun: strings.noun,
    at: chosen,
    frame,
    open: ({ name }) => navigate(agentPath(name, tab) + search, { replace: selected !== undefined }),
    opensOnMove: selected !== undefined,
    close: selected === undefined ? undefined : () => navigate(`/agents${search}`),
  })

  return (
    <div ref={frame} class="fill agents-list">
      <AgentFilterBar filter={filter} all={all ?? []} order={order} />
      <LoadState of={agents} what={strings.what} />
      {all !== undefined && shown.length === 0 && <NoAgents isFilter={agentFilters.isSet(filter) && all.length > 0} />}
      {shown.length > 0 && (
        <>
          <Columns order={order} />
          <VirtualList
            label={strings.label}
            items={shown}
            rowHeight={57}
            selected={cursor}
            keyOf={({ name }) => name}
            row={(agent, index) => (
              <Row agent={agent} search={search} isSelected={index === chosen} isAt={index === cursor} />
            )}
          />
        </>
      )}
    </div>
  )
}

const { filters: words, columns } = strings

const healthOptions: readonly (readonly [value: string, text: string])[] = [
  ['', words.anyHealth],
  ['up', words.up],
  ['slow', words.slow],
  ['failing', words.failing],
  ['down', words.down],
  ['care', words.care],
]

interface AgentFilterBarProps {
  readonly filter: AgentFilters
  readonly all: readonly Agent[]
  readonly order: AgentOrder | undefined
}

function AgentFilterBar({ filter, all, order }: AgentFilterBarProps) {
  const withAny = (any: string, names: readonly string[]) => [
    ['', any] as const,
    ...names.map((name) => [name, name] as const),
  ]
  return (
    <div class="bar toolbar agents-filters" role="search">
      <SearchField
        label={words.text}
        placeholder={words.placeholder}
        value={filter.text}
        onChange={(text) => setQuery({ text })}
      />
      <SelectField
        label={words.kind}
        value={filter.kind}
        options={withAny(words.anyKind, agentKinds(all))}
        onChange={(kind) => setQuery({ kind })}
      />
      <SelectField
        label={words.tag}
        value={filter.tag}
        options={withAny(words.anyTag, agentTags(all))}
        onChange={(tag) => setQuery({ tag })}
      />
      <SelectField
        label={words.health}
        value={filter.health}
        options={healthOptions}
        onChange={(health) => setQuery({ health })}
      />
      <SelectField
        label={words.sort}
        class="agents-sort"
        value={order?.column ?? ''}
        options={[
          ['', words.sort],
          ...Object.entries(strings.sortOptions).map(([column, text]) => [column, text] as const),
        ]}
        onChange={(column) => setQuery({ sort: column === '' ? undefined : firstOrder(column as SortColumn) })}
      />
    </div>
  )
}

/** Click: sort by the column; again: the other way round; once more: as the hub lists them. */
function Columns({ order }: { readonly order: AgentOrder | undefined }) {
  return (
    <div class="agents-columns faint" role="group" aria-label={strings.sortLabel}>
      {sortColumns.map((column) => {
        const isChosen = order?.column === column
        return (
          <button
            key={column}
            type="button"
            class={`plain agents-${column}`}
            aria-pressed={isChosen}
            title={strings.sortBy(columns[column])}
            onClick={() => setQuery({ sort: nextOrder(order, column) }, { push: true })}
          >
            {columns[column]}
            {isChosen && <span aria-hidden="true">{order.isDescending ? ' ↓' : ' ↑'}</span>}
          </button>
        )
      })}
      <span class="agents-error">{columns.error}</span>
    </div>
  )
}

interface RowProps {
  readonly agent: Agent
  readonly search: string
  readonly isSelected: boolean
  readonly isAt: boolean
}

function Row({ agent, search, isSelected, isAt }: RowProps) {
  const { name, kind, load, drift } = agent
  const status = agentStatus(agent)
  return (
    <a
      class={isAt ? 'list-row agents-row at' : 'list-row agents-row'}
      href={agentPath(name) + search}
      data-row={name}
      aria-current={isSelected ? 'true' : undefined}
    >
      <AgentName agent={agent} />
      <span class="agents-kind">
        <span class="agent-tag">{kind}</span>
      </span>
      <span class="agents-health" title={status.why}>
        <StatusBadge {...status} />
        {drift === 'changed' && <StatusBadge tone="waiting" shape="◇" word={strings.cardChanged} />}
        <span class="agents-short faint">
          <ShortUsage agent={agent} />
        </span>
      </span>
      <Usage agent={agent} />
      <span class="agents-load soft cut">{loadText(load)}</span>
      <span class="agents-error cut">
        <AgentError agent={agent} />
      </span>
    </a>
  )
}

/** A longer id needs both lines: cut off, it might look like that of another agent. */
const maxShortId = 28

/** The id leads, because titles may be alike. */
function AgentName({ agent }: { readonly agent: Agent }) {
  const { name, title, kind, description, isDefault } = agent
  const tag = isDefault && <span class="agent-tag">{strings.isDefault}</span>
  if (name.length > maxShortId) {
    return (
      <span class="agents-name grow" title={title}>
        <span class="agents-long-id">
          {name} {tag}
        </span>
      </span>
    )
  }
  return (
    <span class="agents-name grow">
      <span class="agents-title">
        <span class="agents-id">{name}</span>
        {title.toLowerCase() !== name && (
          <span class="soft cut" dir="auto">
            {title}
          </span>
        )}
        {tag}
      </span>
      <span class="agents-about faint cut" dir="auto">
        {description ?? strings.description(kind)}
      </span>
    </span>
  )
}

function Usage({ agent }: { readonly agent: Agent }) {
  const { calls, errors, lastUsedAt } = agent.usage
  return (
    <>
      <span class="agents-calls" title={strings.callsTitle(calls)}>
        {calls === 0 ? <span class="faint">{strings.noCalls}</span> : formatCompact(calls)}
      </span>
      <span
        class={errors > 0 ? 'agents-errors failed' : 'agents-errors faint'}
        title={strings.errorsTitle(errors, calls)}
      >
        {calls + errors === 0 ? strings.noCalls : formatShare(errorRate(agent))}
      </span>
      <span class="agents-used soft">
        {lastUsedAt === undefined ? <span class="faint">{strings.never}</span> : <RelativeTime at={lastUsedAt} />}
      </span>
    </>
  )
}

/** Where there is no room for columns. */
function ShortUsage({ agent }: { readonly agent: Agent }) {
  const { calls, errors, lastUsedAt } = agent.usage
  if (calls + errors === 0) return lastUsedAt === undefined ? strings.never : <RelativeTime at={lastUsedAt} />
  return (
    <>
      {strings.perHour(formatCompact(calls))}
      {errors > 0 && <span class="failed agents-short-errors"> · {formatShare(errorRate(agent))}</span>}
    </>
  )
}

function NoAgents({ isFilter }: { readonly isFilter: boolean }) {
  if (isFilter) {
    return (
      <EmptyState title={strings.noMatch}>
        <a class="button" href="/agents">
          {strings.showAll}
        </a>
      </EmptyState>
    )
  }
  return (
    <EmptyState title={strings.empty}>
      <p>{strings.emptyHint}</p>
      <a class="button primary" href="/agents/new">
        {strings.add}
      </a>
    </EmptyState>
  )
}
