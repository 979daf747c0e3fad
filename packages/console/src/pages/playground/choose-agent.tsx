/** The playground without a selected agent: the available agents and recent conversations. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import type { Resource } from '../../api/resource.ts'
import { agentStatus } from '../../agent/agent-status.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { navigate, query, setQuery } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { StatusBadge } from '../../components/status/task-state.tsx'
import { EmptyState, LoadState } from '../../components/status/error-notice.tsx'
import { RecentList } from './recent-list.tsx'
import { conversationHref } from './playground-params.ts'
import './playground.css'

export interface ChooseAgentProps {
  readonly caller: string
  readonly all: Resource<readonly Agent[]>
  /** The name in the address that matches no agent. */
  readonly missing: string | undefined
}

export function ChooseAgent({ caller, all, missing }: ChooseAgentProps) {
  const filter = query.value.get('agents') ?? ''
  const field = useRef<HTMLInputElement>(null)
  const chosen = useSignal(-1)
  const known = all.value.value
  const found = (known ?? []).filter((agent) => matchesFilter(agent, filter))
  const move = (by: number): void => {
    chosen.value = Math.max(0, Math.min(found.length - 1, chosen.value + by))
    document.getElementById(`choose-${chosen.value}`)?.focus()
  }
  useShortcuts([
    { key: 'j', label: 'Next agent', run: () => move(1) },
    { key: 'k', label: 'Previous agent', run: () => move(-1) },
    { key: '/', label: 'Filter agents', run: () => field.current?.focus() },
  ])
  return (
    <>
      <PageHead title="Playground">
        <a class="button" href="/playground/compare" title="Send one prompt to two agents">
          <Icon name="compare" size={14} /> Compare agents
        </a>
      </PageHead>
      <div class="choose">
        <section class="choose-agents" aria-labelledby="choose-title">
          {missing !== undefined && <MissingAgent name={missing} hasOthers={(known ?? []).length > 0} />}
          <div class="choose-head">
            <h2 id="choose-title">Choose an agent</h2>
            <input
              ref={field}
              type="search"
              aria-label="Filter agents"
              placeholder="Name, skill or kind"
              value={filter}
              onInput={(event) => setQuery({ agents: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && found[0] !== undefined) navigate(conversationHref(found[0].name))
                if (event.key === 'Escape') field.current?.blur()
              }}
            />
          </div>
          <LoadState of={all} what="the agents" />
          {known?.length === 0 && (
            <EmptyState title="No agents yet">
              <a class="button primary" href="/agents/new">
                Add agent
              </a>
            </EmptyState>
          )}
          {known !== undefined && known.length > 0 && found.length === 0 && (
            <p class="choose-none faint">No matching agents</p>
          )}
          <ul class="choose-list">
            {found.map((agent, index) => (
              <AgentCard key={agent.name} agent={agent} id={`choose-${index}`} />
            ))}
          </ul>
        </section>
        <section class="choose-recent" aria-labelledby="recent-title">
          <RecentList caller={caller} titleId="recent-title" />
        </section>
      </div>
    </>
  )
}

function MissingAgent({ name, hasOthers }: { readonly name: string; readonly hasOthers: boolean }) {
  return (
    <div class="choose-missing" role="alert">
      <h2>No agent named {name}</h2>
      <p>
        {hasOthers && 'These are the agents of this hub.'} Tasks of a removed agent are kept:{' '}
        <a href={`/tasks?agent=${encodeURIComponent(name)}`}>show tasks of {name}</a>.
      </p>
    </div>
  )
}

function matchesFilter({ name, title, kind, description = '', skills }: Agent, filter: string): boolean {
  const text = [name, title, kind, description, ...skills.map((skill) => skill.name)].join(' ').toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function AgentCard({ agent, id }: { readonly agent: Agent; readonly id: string }) {
  const { name, title, kind, description } = agent
  const status = agentStatus(agent)
  return (
    <li>
      <a id={id} class="panel choose-card" href={conversationHref(name)}>
        <span class="row choose-name">
          <Icon name="agents" />
          <strong class="cut" dir="auto">
            {title}
          </strong>
          {title !== name && <span class="faint mono cut">{name}</span>}
          <span class="grow" />
          {status.tone === 'failed' ? <StatusBadge {...status} /> : <span class="faint">{kind}</span>}
        </span>
        {description !== undefined && (
          <span class="soft clamp choose-about" dir="auto">
            {description}
          </span>
        )}
      </a>
    </li>
  )
}
