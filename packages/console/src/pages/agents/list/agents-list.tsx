/** The list of agents: kind, health, current work and last error. */
import { useRef } from 'preact/hooks'
import type { Agent } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { SearchField } from '../../../components/filters/filter-fields.tsx'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { useListShortcuts } from '../../../components/list/list-shortcuts.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { agentFilters, agentKinds, agentTags, matchesAgentFilters, type AgentFilters } from './agent-filters.ts'
import { AgentError } from '../agent-error.tsx'
import { agentPath } from '../../../agent/agent-path.ts'
import { agentStatus, loadText } from '../../../agent/agent-status.ts'
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
  const shown = (all ?? []).filter((agent) => matchesAgentFilters(agent, filter))
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
      <AgentFilterBar filter={filter} all={all ?? []} />
      <LoadState of={agents} what="the agents" />
      {all !== undefined && shown.length === 0 && <NoAgents isFilter={agentFilters.isSet(filter) && all.length > 0} />}
      {shown.length > 0 && (
        <>
          <Columns />
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
  ['down', 'Down'],
  ['care', 'Needs care'],
]

function AgentFilterBar({ filter, all }: { readonly filter: AgentFilters; readonly all: readonly Agent[] }) {
  const withAny = (any: string, names: readonly string[]) => [
    ['', any] as const,
    ...names.map((name) => [name, name] as const),
  ]
  return (
    <div class="bar toolbar agents-filters" role="search">
      <SearchField
        label="Filter the agents"
        placeholder="Filter …"
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
    </div>
  )
}

function Columns() {
  return (
    <div class="agents-columns faint" aria-hidden="true">
      <span class="grow">Agent</span>
      <span class="agents-kind">Kind</span>
      <span class="agents-health">Health</span>
      <span class="agents-load">Load</span>
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
  const { name, title, kind, description, isDefault, load, drift } = agent
  const status = agentStatus(agent)
  return (
    <a
      class={isAt ? 'list-row agents-row at' : 'list-row agents-row'}
      href={agentPath(name) + search}
      data-row={name}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="agents-who grow">
        <span class="agents-name">
          <span class="agents-title cut" dir="auto">
            {title}
          </span>
          {title !== name && <span class="mono faint cut">{name}</span>}
          {isDefault && <span class="agent-tag">default</span>}
        </span>
        <span class="agents-about faint cut" dir="auto">
          {description ?? `${kind} agent`}
        </span>
      </span>
      <span class="agents-kind">
        <span class="agent-tag">{kind}</span>
      </span>
      <span class="agents-health" title={status.why}>
        <StatusBadge {...status} />
        {drift === 'changed' && <StatusBadge tone="waiting" shape="◇" word="card changed" />}
      </span>
      <span class="agents-load soft cut">{loadText(load)}</span>
      <span class="agents-error cut">
        <AgentError agent={agent} />
      </span>
    </a>
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
      <p>Give the hub an address or a command. It finds out what it is, and makes an A2A agent of it.</p>
      <a class="button primary" href="/agents/new">
        Add an agent
      </a>
    </EmptyState>
  )
}
