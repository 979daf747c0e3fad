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
import { welcomeStrings as strings } from './strings.ts'

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
    <div class="steps">
      <p class="steps-lead">{strings.lead(agents.length)}</p>
      <ol class="steps-list">
        <Step number={1} title={strings.meet.title} isDone={steps.hasAgents}>
          <AgentCards agents={agents} />
        </Step>
        <Step number={2} title={strings.message.title} isDone={steps.hasSent}>
          <FirstMessage agents={agents} tasks={tasks} />
        </Step>
        <Step number={3} title={strings.own.title} isDone={steps.hasOwn}>
          <OwnAgent agents={agents} />
        </Step>
      </ol>
      {steps.isDone && (
        <p class="steps-end">
          <span>{strings.end}</span>
          <button type="button" class="primary" onClick={onDone}>
            {strings.openOverview}
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
          {title} {isDone && <span class="unseen">{strings.done}</span>}
        </h2>
        {children}
      </div>
    </li>
  )
}

function AgentCards({ agents }: { readonly agents: readonly Agent[] }) {
  if (agents.length === 0) return <p class="hint">{strings.meet.none}</p>
  return (
    <>
      <ul class="meet">
        {agents.slice(0, maxAgents).map((agent) => (
          <li key={agent.name} class="panel">
            <AgentCard agent={agent} />
          </li>
        ))}
      </ul>
      {agents.length > maxAgents && <a href="/agents">{strings.meet.all(agents.length)}</a>}
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
        {description ?? strings.meet.description(kind)}
      </p>
      <p class="row meet-foot faint">
        <span class="cut">
          {kind}
          {isDefault && strings.meet.isDefault}
        </span>
        <a href={playgroundPath(name)}>{strings.meet.open}</a>
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
          {own.length > 0 && <p class="hint">{strings.own.has(own.length)}</p>}
          <AddAgent onAdded={(name) => (added.value = name)} />
          <p class="hint">
            {strings.own.terminal} <code>parley agent add https://agent.example.com</code>
          </p>
        </>
      ) : (
        <p class="steps-added">
          <StatusBadge tone="done" shape="●" word={strings.own.added} />
          <a href={agentPath(added.value)}>{added.value}</a>
          <a class="button" href={playgroundPath(added.value)}>
            {strings.own.open}
          </a>
          <button type="button" onClick={() => (added.value = undefined)}>
            {strings.own.another}
          </button>
        </p>
      )}
    </>
  )
}
