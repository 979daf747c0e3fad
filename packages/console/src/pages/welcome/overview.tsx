/** The hub at a glance: agent health, running work, recent tasks and links. */
import type { Agent, TaskSummary } from '../../api/admin.ts'
import type { AdminResponse } from '../../api/admin-client.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { StatusBadge, TaskStateBadge } from '../../components/status/task-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatCount, formatDuration } from '../../components/format.ts'
import { agentStatus, loadText, needsAttention } from '../../agent/agent-status.ts'
import { agentPath } from '../../agent/agent-path.ts'
import './overview.css'

export interface OverviewProps {
  readonly agents: readonly Agent[]
  readonly counts: AdminResponse<'countTasks'>
  readonly tasks: readonly TaskSummary[]
}

export function HubOverview({ agents, counts: { states }, tasks }: OverviewProps) {
  const up = agents.filter((agent) => agentStatus(agent).word === 'up').length
  const care = agents.filter(needsAttention)
  const of = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (states[`TASK_STATE_${name}`] ?? 0), 0)
  return (
    <div class="overview">
      <ul class="overview-numbers" aria-label="Now">
        <Tile href="/agents" value={`${up} / ${agents.length}`} word="agents up" isTrouble={up < agents.length} />
        <Tile
          href={tasksHref('SUBMITTED', 'WORKING')}
          value={formatCount(of('SUBMITTED', 'WORKING'))}
          word="tasks at work"
        />
        <Tile
          href={tasksHref('INPUT_REQUIRED', 'AUTH_REQUIRED')}
          value={formatCount(of('INPUT_REQUIRED', 'AUTH_REQUIRED'))}
          word="wait for an answer"
        />
        <Tile href={tasksHref('COMPLETED')} value={formatCount(of('COMPLETED'))} word="completed" />
        <Tile href={tasksHref('FAILED')} value={formatCount(of('FAILED'))} word="failed" isTrouble={of('FAILED') > 0} />
      </ul>
      <div class="overview-halves">
        <section class="stack-small overview-half">
          <h2>Recent tasks</h2>
          <RecentTasks tasks={tasks} />
        </section>
        <section class="stack-small overview-half">
          <h2>{care.length > 0 ? 'Agents that need care' : 'Agents'}</h2>
          <AgentLines agents={care.length > 0 ? care : agents} isCare={care.length > 0} />
        </section>
      </div>
      <nav aria-label="Quick links" class="overview-links">
        <QuickLink href="/playground" icon="playground" text="Talk to an agent" />
        <QuickLink href="/agents/new" icon="plus" text="Add an agent" />
        <QuickLink href="/settings/keys?make=key" icon="key" text="Make a key" />
        <QuickLink href="/traces" icon="traces" text="Follow a trace" />
        <QuickLink href="/settings/config" icon="settings" text="Change the configuration" />
      </nav>
    </div>
  )
}

function tasksHref(...states: readonly string[]): string {
  return `/tasks?state=${states.map((state) => `TASK_STATE_${state}`).join(',')}`
}

interface TileProps {
  readonly href: string
  readonly value: string
  readonly word: string
  readonly isTrouble?: boolean
}

function Tile({ href, value, word, isTrouble = false }: TileProps) {
  return (
    <li>
      <a class={isTrouble ? 'panel overview-tile trouble-tile' : 'panel overview-tile'} href={href}>
        <span class="overview-value">{value}</span>
        <span class="overview-word">{word}</span>
      </a>
    </li>
  )
}

function RecentTasks({ tasks }: { readonly tasks: readonly TaskSummary[] }) {
  if (tasks.length === 0) {
    return (
      <p class="hint">
        None yet. <a href="/playground">Send a first message</a>
      </p>
    )
  }
  return (
    <ul class="panel overview-rows">
      {tasks.map(({ id, state, title, agent, statusAt, durationMs }) => (
        <li key={id}>
          <a class="list-row" href={`/tasks/${id}`}>
            <span class="overview-state">
              <TaskStateBadge state={state} />
            </span>
            <span class="grow cut" dir="auto">
              {title ?? 'A task without words'}
            </span>
            <span class="overview-agent soft cut">{agent}</span>
            <span class="faint overview-time">{durationMs === undefined ? '' : formatDuration(durationMs)}</span>
            <span class="faint overview-time">
              <RelativeTime at={statusAt} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

const maxAgents = 8

function AgentLines({ agents, isCare }: { readonly agents: readonly Agent[]; readonly isCare: boolean }) {
  if (agents.length === 0) {
    return (
      <p class="hint">
        None. <a href="/agents/new">Add an agent</a>
      </p>
    )
  }
  return (
    <>
      <ul class="panel overview-rows">
        {agents.slice(0, maxAgents).map((agent) => {
          const status = agentStatus(agent)
          return (
            <li key={agent.name}>
              <a class="list-row" href={agentPath(agent.name)}>
                <StatusBadge {...status} />
                <span class="overview-name cut">{agent.title}</span>
                <span class="grow faint cut overview-why">
                  {isCare ? (status.why ?? 'its card has changed') : loadText(agent.load)}
                </span>
              </a>
            </li>
          )
        })}
      </ul>
      <a class="overview-all" href={isCare ? '/agents?health=care' : '/agents'}>
        All agents
      </a>
    </>
  )
}

function QuickLink({ href, icon, text }: { readonly href: string; readonly icon: IconName; readonly text: string }) {
  return (
    <a class="button" href={href}>
      <Icon name={icon} /> {text}
    </a>
  )
}
