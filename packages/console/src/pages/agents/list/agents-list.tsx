/** The list of agents: kind, health, current work and last error. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Agent } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { copyText } from '../../../components/content/copy-button.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { agentFilters, agentKinds, agentTags, matchesAgentFilters } from './agent-filters.ts'
import type { AgentFilters } from './agent-filters.ts'
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
  const problem = agents.problem.value
  const shown = (all ?? []).filter((agent) => matchesAgentFilters(agent, filter))
  const chosen = shown.findIndex(({ name }) => name === selected)
  const cursor = useSignal<string | undefined>(undefined)
  const at = chosen >= 0 ? chosen : shown.findIndex(({ name }) => name === cursor.value)
  const field = useRef<HTMLInputElement>(null)

  function move(by: number): void {
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))]
    if (next === undefined) return
    cursor.value = next.name
    if (selected !== undefined) navigate(agentPath(next.name, tab) + search, { replace: true })
  }

  useShortcuts([
    { key: 'j', label: 'Next agent', run: () => move(1) },
    { key: 'k', label: 'Agent before', run: () => move(-1) },
    { key: 'Enter', label: 'Open the agent', run: () => shown[at] && navigate(agentPath(shown[at].name) + search) },
    { key: 'Escape', label: 'Back to the list', run: () => navigate(`/agents${search}`) },
    { key: '/', label: 'Filter the agents', run: () => field.current?.focus() },
    { key: 'c', label: 'Copy the name of the agent', run: () => shown[at] && void copyText(shown[at].name) },
  ])

  return (
    <div class="agents-list">
      <AgentFilterBar filter={filter} all={all ?? []} field={field} />
      {problem !== undefined && <ErrorNotice reason={problem} retry={() => agents.reload()} />}
      {all === undefined ? (
        problem === undefined && <Loading what="the agents" />
      ) : shown.length === 0 ? (
        <NoAgents isFilter={agentFilters.isSet(filter) && all.length > 0} />
      ) : (
        <>
          <Columns />
          <VirtualList
            label="Agents"
            count={shown.length}
            rowHeight={57}
            selected={at}
            keyOf={(index) => shown[index]?.name ?? ''}
            row={(index) => {
              const agent = shown[index]
              if (agent === undefined) return null
              return <Row agent={agent} search={search} isSelected={index === chosen} isAt={index === at} />
            }}
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

interface FiltersProps {
  readonly filter: AgentFilters
  readonly all: readonly Agent[]
  readonly field: { current: HTMLInputElement | null }
}

function AgentFilterBar({ filter, all, field }: FiltersProps) {
  return (
    <div class="toolbar agents-filters" role="search">
      <input
        ref={field}
        type="search"
        aria-label="Filter the agents"
        placeholder="Filter …"
        value={filter.text}
        onInput={(event) => setQuery({ text: event.currentTarget.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <QuerySelect label="Kind" name="kind" value={filter.kind} any="Any kind" options={agentKinds(all)} />
      <QuerySelect label="Tag" name="tag" value={filter.tag} any="Any tag" options={agentTags(all)} />
      <select
        aria-label="Health"
        value={filter.health}
        onChange={(event) => setQuery({ health: event.currentTarget.value })}
      >
        {healthOptions.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface QuerySelectProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly any: string
  readonly options: readonly string[]
}

/** A value from the address is offered too, even if no agent has it. */
function QuerySelect({ label, name, value, any, options }: QuerySelectProps) {
  const offered = value === '' || options.includes(value) ? options : [value, ...options]
  return (
    <select aria-label={label} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{any}</option>
      {offered.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
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
  const { tone, shape, word, why } = agentStatus(agent)
  return (
    <a
      class={isAt ? 'list-row agents-row at' : 'list-row agents-row'}
      href={agentPath(name) + search}
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
      <span class="agents-health" title={why}>
        <StatusBadge tone={tone} shape={shape} word={word} />
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
      <EmptyState title="No agent is like that">
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
