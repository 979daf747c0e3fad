/** Beside the charts: agents that need attention, and why tasks failed. */
import type { ComponentChildren } from 'preact'
import type { Agent } from '../../api/admin.ts'
import { now } from '../../api/resource.ts'
import { agentPath } from '../../agent/agent-path.ts'
import { FailureGroups } from '../../agent/failure-groups.tsx'
import { agentStatus, needsAttention } from '../../agent/agent-status.ts'
import { Icon } from '../../components/icon.tsx'
import { StatusBadge } from '../../components/status/task-state.tsx'
import type { StatRange } from '../../components/stats/stat-range.ts'
import { rangeStart, tasksHref } from './overview-filters.ts'
import { rangeNames } from '../../components/stats/stat-range.ts'

const maxAgents = 6
const maxGroups = 6

export function AttentionPanel({
  agents,
  agent: chosen,
}: {
  readonly agents: readonly Agent[] | undefined
  readonly agent: string
}) {
  const shown = agents?.filter((agent) => needsAttention(agent) && (chosen === '' || agent.name === chosen))
  return (
    <SidePanel title="Needs attention" isLoading={shown === undefined}>
      {agents?.length === 0 ? (
        <p class="overview-none">
          No agents yet. <a href="/agents/new">Add agent</a>
        </p>
      ) : shown?.length === 0 ? (
        <p class="overview-none overview-good">
          <Icon name="check" /> All agents are up.
        </p>
      ) : (
        <>
          <ul class="overview-rows">
            {shown?.slice(0, maxAgents).map((agent) => {
              const status = agentStatus(agent)
              return (
                <li key={agent.name}>
                  <a class="tile-row" href={agentPath(agent.name)}>
                    <span class="row">
                      <span class="overview-name grow">{agent.name}</span>
                      <StatusBadge {...status} />
                    </span>
                    <span class="overview-why faint clamp" dir="auto">
                      {status.why}
                    </span>
                  </a>
                </li>
              )
            })}
          </ul>
          <a class="overview-all" href="/agents?health=care">
            All agents
          </a>
        </>
      )}
    </SidePanel>
  )
}

export function FailuresPanel({ range, agent }: { readonly range: StatRange; readonly agent: string }) {
  return (
    <SidePanel title="Recent failures" isLoading={false}>
      <FailureGroups range={range} rangeName={rangeNames[range]} agent={agent} limit={maxGroups} />
      <a
        class="overview-all"
        href={tasksHref({ agent, state: 'TASK_STATE_FAILED', since: rangeStart(range, now.peek()) })}
      >
        All failed tasks
      </a>
    </SidePanel>
  )
}

interface SidePanelProps {
  readonly title: string
  readonly isLoading: boolean
  readonly children: ComponentChildren
}

function SidePanel({ title, isLoading, children }: SidePanelProps) {
  return (
    <section class="panel overview-panel" aria-busy={isLoading}>
      <h2>{title}</h2>
      {isLoading ? <p class="overview-loading overview-loading-rows" /> : children}
    </section>
  )
}
