/** An agent at a glance: description, health, skills and recent tasks. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { CopyButton, CopyableId } from '../../../components/content/copy-button.tsx'
import { TaskStateBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { ErrorNotice, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { agentStatus, breakerText } from '../../../agent/agent-status.ts'
import { agentPath, playgroundPath } from '../../../agent/agent-path.ts'
import { parseCard } from '../../../agent/parse-card.ts'
import { affectsAgent } from '../../../api/agents.ts'
import { SkillList } from './skill-list.tsx'
import { AgentFacts } from './agent-facts.tsx'
import './overview-tab.css'
import '../../../components/status/tags.css'

export function OverviewTab({ agent, cards }: AgentTabProps) {
  const card = parseCard(cards?.cards['1.0'])
  const { name, url, isDefault } = agent
  return (
    <div class="agent-tab">
      <AgentNotes agent={agent} cards={cards} />
      {card.description !== undefined && <Description text={card.description} />}
      <section class="stack-small agent-part" aria-label="Address">
        <div class="agent-address">
          <code>{url}</code>
          <CopyButton text={url} label="Copy the endpoint" />
          <a class="button plain small" href={agentPath(name, 'connect')}>
            How to connect
          </a>
        </div>
        {isDefault && (
          <p class="hint">The default agent: it also answers at the root of the hub, where no agent is named.</p>
        )}
      </section>
      <AgentFacts agent={agent} card={card} />
      <section class="stack-small agent-part">
        <h3>Skills</h3>
        {card.skills.length === 0 ? (
          <p class="hint">
            It names none. <a href={playgroundPath(name, 'Hello')}>Say hello to it</a>
          </p>
        ) : (
          <SkillList skills={card.skills} agent={name} />
        )}
      </section>
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
  const { name, drift, health } = agent
  const { word, why } = agentStatus(agent)
  const breaker = breakerText(health.breaker)
  const fields = cards?.remote?.changed?.fields ?? []
  return (
    <>
      {word === 'unavailable' && (
        <WarningNote tone="failed">It is not open: {why ?? 'the reason is not known'}</WarningNote>
      )}
      {(word === 'down' || word === 'slow') && why !== undefined && (
        <WarningNote tone={word === 'down' ? 'failed' : 'waiting'}>
          It is {word}: {why}
        </WarningNote>
      )}
      {drift !== undefined && (
        <WarningNote tone={drift === 'blocked' ? 'failed' : 'waiting'}>
          Its card has changed{fields.length > 0 && <> ({fields.join(', ')})</>}
          {drift === 'blocked' && ', and it is not called before that is approved'}.{' '}
          <a href={agentPath(name, 'card')}>Look at the change</a>
        </WarningNote>
      )}
      {breaker !== undefined && <WarningNote>{breaker}</WarningNote>}
    </>
  )
}

const recentTaskCount = 5

function RecentTasks({ name }: { readonly name: string }) {
  const found = useResource(
    `tasks of ${name}`,
    (signal) => callAdmin('listTasks', { query: { agent: name, limit: recentTaskCount }, signal }),
    affectsAgent(name),
  )
  const tasks = found.value.value?.tasks
  return (
    <section class="stack-small agent-part">
      <div class="row agent-part-head">
        <h3>Recent tasks</h3>
        <a href={`/tasks?agent=${encodeURIComponent(name)}`}>All its tasks</a>
      </div>
      {found.problem.value !== undefined && <ErrorNotice reason={found.problem.value} />}
      {tasks?.length === 0 && (
        <p class="hint">
          None yet. <a href={playgroundPath(name)}>Try it in the playground</a>
        </p>
      )}
      {tasks !== undefined && tasks.length > 0 && (
        <ul class="panel agent-tasks">
          {tasks.map(({ id, state, title, statusAt }) => (
            <li key={id}>
              <TaskStateBadge state={state} />
              <a class="grow cut" dir="auto" href={`/tasks/${id}`}>
                {title ?? 'A task without words'}
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
