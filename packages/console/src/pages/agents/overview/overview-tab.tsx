/** An agent at a glance: description, health, skills and recent tasks. Failures are in the banner above all tabs. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { CopyButton, CopyableId } from '../../../components/content/copy-button.tsx'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { pluralize } from '../../../components/format.ts'
import { RelativeTime } from '../../../components/time.tsx'
import { ErrorNotice, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { agentStatus } from '../../../agent/agent-status.ts'
import { FailureGroups } from '../../../agent/failure-groups.tsx'
import { agentPath, playgroundPath } from '../../../agent/agent-path.ts'
import { parseCard } from '../../../agent/parse-card.ts'
import { affectsAgent } from '../../../api/agents.ts'
import { TimePartsBar } from '../../../trace/time-parts.tsx'
import { SkillList } from './skill-list.tsx'
import { AgentFacts } from './agent-facts.tsx'
import './overview-tab.css'
import '../../../components/status/tags.css'

export function OverviewTab({ agent, cards }: AgentTabProps) {
  const card = parseCard(cards?.cards['merged'])
  const { name, url, isDefault } = agent
  return (
    <div class="stack-wider agent-tab">
      <AgentNotes agent={agent} cards={cards} />
      {card.description !== undefined && <Description text={card.description} />}
      <section class="stack-small agent-part" aria-label="Address">
        <div class="agent-address">
          <code>{url}</code>
          <CopyButton text={url} label="Copy endpoint" />
          <a class="button plain small" href={agentPath(name, 'connect')}>
            How to connect
          </a>
        </div>
        {isDefault && <p class="hint">Default agent: it also answers at the root URL of the hub.</p>}
      </section>
      <AgentFacts agent={agent} card={card} />
      <section class="stack-small agent-part">
        <h3>Skills</h3>
        {card.skills.length === 0 ? (
          <p class="hint">
            Its card lists no skills. <a href={playgroundPath(name, 'Hello')}>Say hello</a>
          </p>
        ) : (
          <SkillList skills={card.skills} agent={name} />
        )}
      </section>
      <section class="stack-small agent-part">
        <h3>Failures in the last 7 days</h3>
        <div class="panel">
          <FailureGroups range="7d" rangeName="the last 7 days" agent={name} limit={5} />
        </div>
      </section>
      <Times name={name} />
      <RecentTasks name={name} />
    </div>
  )
}

/** Longer descriptions are collapsed. */
const longDescription = 800

function Description({ text }: { readonly text: string }) {
  const isWhole = useSignal(text.length <= longDescription)
  return (
    <p class="agent-prose" dir="auto">
      {isWhole.value ? text : `${text.slice(0, longDescription).toWellFormed()}… `}
      {!isWhole.value && (
        <button type="button" class="small" onClick={() => (isWhole.value = true)}>
          Show all
        </button>
      )}
    </p>
  )
}

function AgentNotes({ agent, cards }: AgentTabProps) {
  const { name, drift } = agent
  const { word, why } = agentStatus(agent)
  const isNoted = word === 'slow' || word === 'failing' || (word === 'up' && drift === undefined)
  const fields = cards?.remote?.changed?.fields ?? []
  return (
    <>
      {drift === 'changed' && (
        <WarningNote>
          Its card has changed
          {fields.length > 0 && <> ({fields.join(', ')})</>}. <a href={agentPath(name, 'card')}>Review card</a>
        </WarningNote>
      )}
      {isNoted && why !== undefined && <WarningNote>{why}</WarningNote>}
    </>
  )
}

/** Absent while traces are not stored. */
function Times({ name }: { readonly name: string }) {
  const found = useResource(
    `times of ${name}`,
    (signal) => callAdmin('getAgentTimes', { params: { agent: name }, signal }),
    (change) => change.type === 'task' && change.task.agent === name && isTerminalState(change.task.state),
  ).value.value
  if (found === undefined || found.tasks === 0) return null
  return (
    <section class="stack-small agent-part">
      <h3>Where the time went in the last 24 hours</h3>
      <div class="panel">
        <TimePartsBar times={found.times} tasks={found.tasks} />
      </div>
      <p class="hint">On average over {pluralize(found.tasks, found.isCut ? 'newest task' : 'task')}.</p>
    </section>
  )
}

const recentTaskCount = 5

function RecentTasks({ name }: { readonly name: string }) {
  const found = useResource(
    `recent-tasks/${name}`,
    (signal) => callAdmin('listTasks', { query: { agent: name, limit: recentTaskCount }, signal }),
    affectsAgent(name),
  )
  const tasks = found.value.value?.tasks
  return (
    <section class="stack-small agent-part">
      <div class="row agent-part-head">
        <h3>Recent tasks</h3>
        <a href={`/tasks?agent=${encodeURIComponent(name)}`}>Show all tasks</a>
      </div>
      {found.problem.value !== undefined && <ErrorNotice reason={found.problem.value} />}
      {tasks?.length === 0 && (
        <p class="hint">
          No tasks yet. <a href={playgroundPath(name)}>Open in playground</a>
        </p>
      )}
      {tasks !== undefined && tasks.length > 0 && (
        <ul class="panel agent-tasks">
          {tasks.map(({ id, state, title, statusAt }) => (
            <li key={id}>
              <TaskStateBadge state={state} />
              <a class="grow cut" dir="auto" href={`/tasks/${id}`}>
                {title ?? 'Task without text'}
              </a>
              <span class="agent-task-id">
                <CopyableId id={id} what="task id" />
              </span>
              <span class="faint">
                <RelativeTime at={statusAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
