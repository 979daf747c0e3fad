/** Three steps from a hub that has just started to one in use; completed steps are marked. */
import type { ComponentChildren } from 'preact'
import type { Agent, TaskSummary } from '../../api/admin.ts'
import { useSignal } from '@preact/signals'
import { Icon } from '../../components/icon.tsx'
import { StatusBadge } from '../../components/status/task-state.tsx'
import { AddAgent } from '../../agent/add-agent.tsx'
import { agentStatus } from '../../agent/agent-status.ts'
import { agentPath, playgroundPath } from '../../agent/agent-path.ts'
import { FirstMessage } from './first-message.tsx'
import type { FirstStepsStatus } from './first-steps-status.ts'
import { pluralize } from '../../components/format.ts'

const leadText = (agents: number) =>
  agents === 0
    ? 'Your hub is running. It has no agents yet. Three steps take about a minute.'
    : `Your hub is running. Any A2A client can call ${agents === 1 ? 'its agent' : `its ${agents} agents`}, whatever its version. Three steps take about a minute.`

export interface FirstStepsProps {
  readonly agents: readonly Agent[]
  readonly tasks: readonly TaskSummary[]
  readonly steps: FirstStepsStatus
  readonly onDone: () => void
}

/** More would hide the next step. */
const maxAgents = 6

export function FirstSteps({ agents, tasks, steps, onDone }: FirstStepsProps) {
  return (
    <div class="stack-wider steps">
      <p class="steps-lead">{leadText(agents.length)}</p>
      <ol class="steps-list">
        <Step number={1} title="Meet the agents" isDone={steps.hasAgents}>
          <AgentCards agents={agents} />
        </Step>
        <Step number={2} title="Send a first message" isDone={steps.hasSent}>
          <FirstMessage agents={agents} tasks={tasks} />
        </Step>
        <Step number={3} title="Add your own agent" isDone={steps.hasOwn}>
          <OwnAgent agents={agents} />
        </Step>
      </ol>
      {steps.isDone && (
        <p class="steps-end">
          <span>All steps are done. The overview shows requests, errors and cost as they happen.</span>
          <button type="button" class="primary" onClick={onDone}>
            Open overview
          </button>
        </p>
      )}
    </div>
  )
}

interface StepProps {
  readonly number: number
  readonly title: string
  readonly isDone: boolean
  readonly children: ComponentChildren
}

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? 'step done' : 'step'}>
      <span class="step-number" aria-hidden="true">
        {isDone ? <Icon name="check" size={14} /> : number}
      </span>
      <div class="stack step-body">
        <h2>
          {title} {isDone && <span class="unseen">(done)</span>}
        </h2>
        {children}
      </div>
    </li>
  )
}

function AgentCards({ agents }: { readonly agents: readonly Agent[] }) {
  if (agents.length === 0) return <p class="hint">No agents yet. The last step adds one.</p>
  return (
    <>
      <ul class="meet">
        {agents.slice(0, maxAgents).map((agent) => (
          <li key={agent.name} class="panel">
            <AgentCard agent={agent} />
          </li>
        ))}
      </ul>
      {agents.length > maxAgents && <a href="/agents">All {pluralize(agents.length, 'agent')}</a>}
    </>
  )
}

function AgentCard({ agent }: { readonly agent: Agent }) {
  const { name, title, description, kind, isDefault } = agent
  const status = agentStatus(agent)
  return (
    <>
      <div class="row meet-head">
        <h3 class="cut">
          <a href={agentPath(name)}>{title}</a>
        </h3>
        <span title={status.why}>
          <StatusBadge {...status} />
        </span>
      </div>
      <p class="meet-about soft clamp" dir="auto">
        {description ?? `${kind} agent`}
      </p>
      <p class="row meet-foot faint">
        <span class="cut">
          {kind}
          {isDefault && ' · default'}
        </span>
        <a href={playgroundPath(name)}>Try it</a>
      </p>
    </>
  )
}

function OwnAgent({ agents }: { readonly agents: readonly Agent[] }) {
  const added = useSignal<string | undefined>(undefined)
  const own = agents.filter(({ kind }) => kind !== 'demo')
  return (
    <>
      {added.value === undefined ? (
        <>
          {own.length > 0 && (
            <p class="hint">You have added {pluralize(own.length, 'agent')}. Add the next one here.</p>
          )}
          <AddAgent onAdded={(name) => (added.value = name)} />
          <p class="hint">
            Or from a terminal: <code>parley agent add https://agent.example.com</code>
          </p>
        </>
      ) : (
        <p class="steps-added">
          <StatusBadge tone="done" shape="●" word="added" />
          <a href={agentPath(added.value)}>{added.value}</a>
          <a class="button" href={playgroundPath(added.value)}>
            Try it
          </a>
          <button type="button" onClick={() => (added.value = undefined)}>
            Add another agent
          </button>
        </p>
      )}
    </>
  )
}
