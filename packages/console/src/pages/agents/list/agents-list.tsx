/** The list of agents: kind, health, calls, errors, last use, current work and last error. Sorted as the address says. */
import { useRef } from 'preact/hooks'
import type { Agent } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { formatCompact, formatCount } from '../../../components/format.ts'
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
import './agents-list.css'
import '../../../components/status/tags.css'

const sortOptions = {
  name: 'Name',
  calls: 'Most calls',
  errors: 'Most errors',
  used: 'Last used',
  health: 'Health',
  kind: 'Kind',
  load: 'Load',
}
const columnTitles = {
  name: 'Agent',
  kind: 'Kind',
  health: 'Health',
  calls: 'Calls / h',
  errors: 'Errors',
  used: 'Last used',
  load: 'Load',
}

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
    noun: 'agent',
    at: chosen,
    frame,
    open: ({ name }) => navigate(agentPath(name, tab) + search, { replace: selected !== undefined }),
    opensOnMove: selected !== undefined,
    close: selected === undefined ? undefined : () => navigate(`/agents${search}`),
  })

  return (
    <div ref={frame} class="fill agents-list">
      <AgentFilterBar filter={filter} all={all ?? []} order={order} />
      <LoadState of={agents} what="the agents" />
      {all !== undefined && shown.length === 0 && <NoAgents isFilter={agentFilters.isSet(filter) && all.length > 0} />}
      {shown.length > 0 && (
        <>
          <Columns order={order} />
          <VirtualList
            label="Agents"
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

const healthOptions: readonly (readonly [value: string, text: string])[] = [
  ['', 'Any health'],
  ['up', 'Up'],
  ['slow', 'Slow'],
  ['failing', 'Failing'],
  ['down', 'Down'],
  ['care', 'Needs attention'],
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
        label="Filter agents"
        placeholder="Filter…"
        value={filter.text}
        onChange={(text) => setQuery({ text })}
      />
      <SelectField
        label="Kind"
        value={filter.kind}
        options={withAny('Any kind', agentKinds(all))}
        onChange={(kind) => setQuery({ kind })}
      />
      <SelectField
        label="Tag"
        value={filter.tag}
        options={withAny('Any tag', agentTags(all))}
        onChange={(tag) => setQuery({ tag })}
      />
      <SelectField
        label="Health"
        value={filter.health}
        options={healthOptions}
        onChange={(health) => setQuery({ health })}
      />
      <SelectField
        label="Sort"
        class="agents-sort"
        value={order?.column ?? ''}
        options={[['', 'Sort'], ...Object.entries(sortOptions).map(([column, text]) => [column, text] as const)]}
        onChange={(column) => setQuery({ sort: column === '' ? undefined : firstOrder(column as SortColumn) })}
      />
    </div>
  )
}

/** Click: sort by the column; again: the other way round; once more: as the hub lists them. */
function Columns({ order }: { readonly order: AgentOrder | undefined }) {
  return (
    <div class="agents-columns faint" role="group" aria-label="Sort by">
      {sortColumns.map((column) => {
        const isChosen = order?.column === column
        return (
          <button
            key={column}
            type="button"
            class={`plain agents-${column}`}
            aria-pressed={isChosen}
            title={`Sort by ${columnTitles[column]}`}
            onClick={() => setQuery({ sort: nextOrder(order, column) }, { push: true })}
          >
            {columnTitles[column]}
            {isChosen && <span aria-hidden="true">{order.isDescending ? ' ↓' : ' ↑'}</span>}
          </button>
        )
      })}
      <span class="agents-error">Last error</span>
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
        {drift === 'changed' && <StatusBadge tone="waiting" shape="◇" word="card changed" />}
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
  const tag = isDefault && <span class="agent-tag">default</span>
  if (name.length > maxShortId) {
    return (
      <span class="agents-name grow" title={title}>
        <span class="agents-long-id clamp">
          {name} {tag}
        </span>
      </span>
    )
  }
  return (
    <span class="agents-name grow">
      <span class="line agents-title">
        <span class="agents-id">{name}</span>
        {title.toLowerCase() !== name && (
          <span class="soft cut" dir="auto">
            {title}
          </span>
        )}
        {tag}
      </span>
      <span class="agents-about faint cut" dir="auto">
        {description ?? `${kind} agent`}
      </span>
    </span>
  )
}

function Usage({ agent }: { readonly agent: Agent }) {
  const { calls, errors, lastUsedAt } = agent.usage
  return (
    <>
      <span class="agents-calls" title={`${formatCount(calls)} calls in the last hour`}>
        {calls === 0 ? <span class="faint">–</span> : formatCompact(calls)}
      </span>
      <span
        class={errors > 0 ? 'agents-errors failed' : 'agents-errors faint'}
        title={`${formatCount(errors)} of ${formatCount(calls)} calls failed in the last hour`}
      >
        {calls + errors === 0 ? '–' : formatShare(errorRate(agent))}
      </span>
      <span class="agents-used soft">
        {lastUsedAt === undefined ? <span class="faint">never</span> : <RelativeTime at={lastUsedAt} />}
      </span>
    </>
  )
}

/** Where there is no room for columns. */
function ShortUsage({ agent }: { readonly agent: Agent }) {
  const { calls, errors, lastUsedAt } = agent.usage
  if (calls + errors === 0) return lastUsedAt === undefined ? 'never' : <RelativeTime at={lastUsedAt} />
  return (
    <>
      {formatCompact(calls)} / h
      {errors > 0 && <span class="failed agents-short-errors"> · {formatShare(errorRate(agent))}</span>}
    </>
  )
}

function NoAgents({ isFilter }: { readonly isFilter: boolean }) {
  if (isFilter) {
    return (
      <EmptyState title="No matching agents">
        <a class="button" href="/agents">
          Show all agents
        </a>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No agents yet">
      <p>Enter a URL or a command. The hub detects what it is and serves it as an A2A agent.</p>
      <a class="button primary" href="/agents/new">
        Add agent
      </a>
    </EmptyState>
  )
}
