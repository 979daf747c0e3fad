/** The health of the hub: findings first, then the last hour and the components. */
import type { Health } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useAgentList } from '../../../api/agents.ts'
import { connectionStatus } from '../../../api/change-feed.ts'
import { useResource } from '../../../api/resource.ts'
import { CopyableId } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { StatusBadge, TaskStateBadge, taskStates } from '../../../components/status/task-state.tsx'
import { ClockTime, ElapsedTime } from '../../../components/time.tsx'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { formatCount, formatDuration, pluralize } from '../../../components/format.ts'
import { useVisibleInterval } from '../use-visible-interval.ts'
import { findingsOf, type Finding } from './findings.ts'
import { LastHour } from './last-hour.tsx'
import './health.css'

/** The change feed has no events for elapsed time, streams or a failing store. */
const reloadMs = 5_000

export function HealthView() {
  const health = useResource(
    'health',
    (signal) => callAdmin('getHealth', { signal }),
    ({ type }) => type !== 'reset',
  )
  const agents = useAgentList()
  const pulse = useResource('pulse', (signal) => callAdmin('getPulse', { signal }))
  useVisibleInterval(reloadMs, () => {
    health.reload()
    pulse.reload()
  })
  const found = health.value.value
  const minutes = pulse.value.value?.minutes
  return (
    <div class="scroll health">
      <LoadState of={health} what="how the hub is" />
      {found !== undefined && <HealthSummary findings={findingsOf(found, agents.value.value ?? [], minutes ?? [])} />}
      {minutes !== undefined && <LastHour minutes={minutes} />}
      {found !== undefined && <HubFacts health={found} />}
    </div>
  )
}

function HealthSummary({ findings }: { readonly findings: readonly Finding[] }) {
  const bad = findings.filter(({ grade }) => grade === 'bad').length
  const isAway = connectionStatus.value === 'away'
  const title = isAway
    ? 'The hub does not answer'
    : bad > 0
      ? `${pluralize(bad, 'thing')} ${bad === 1 ? 'is' : 'are'} wrong`
      : findings.length > 0
        ? 'The hub works; something should be looked at'
        : 'All is well'
  const look = isAway || bad > 0 ? 'failed' : findings.length > 0 ? 'waiting' : 'done'
  return (
    <section aria-labelledby="health-verdict">
      <div role="status">
        <h2 id="health-verdict" class={`row health-verdict ${look}`}>
          <Icon name={look === 'done' ? 'check' : 'warning'} size={20} />
          {title}
        </h2>
      </div>
      {isAway && <p class="soft">These values are outdated. The page reconnects automatically.</p>}
      {findings.length > 0 && (
        <ul class="health-findings panel">
          {findings.map((finding) => (
            <FindingRow key={finding.id} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  )
}

function FindingRow({ finding }: { readonly finding: Finding }) {
  const { grade, title, why, next, links } = finding
  return (
    <li>
      <StatusBadge
        tone={grade === 'bad' ? 'failed' : 'waiting'}
        shape={grade === 'bad' ? '✕' : '◇'}
        word={grade === 'bad' ? 'wrong' : 'look'}
      />
      <div class="grow">
        <h3>{title}</h3>
        {why !== undefined && <p class="health-why mono">{why}</p>}
        <p class="soft">{next}</p>
        {links.length > 0 && (
          <p class="health-links">
            {links.map(({ text, href }) => (
              <a key={href} href={href}>
                {text}
              </a>
            ))}
          </p>
        )}
      </div>
    </li>
  )
}

function HubFacts({ health }: { readonly health: Health }) {
  const { store, agents, tasks, streams, push, version, node, protocols, instance, startedAt } = health
  const states = taskStates.filter((state) => (tasks[state] ?? 0) > 0)
  return (
    <section aria-labelledby="health-parts">
      <div class="health-head">
        <h2 id="health-parts">Parts</h2>
      </div>
      <div class="panel panel-body">
        <FactList>
          <Fact name="Store">
            {store.name},{' '}
            {store.isReady ? `answers in ${formatDuration(Math.max(1, store.latencyMs))}` : 'does not answer'}
          </Fact>
          <Fact name="Agents">
            <a href="/agents">
              {agents.open} of {agents.all} open
            </a>
            {agents.down.length > 0 && `, ${agents.down.length} not well`}
          </Fact>
          <Fact name="Open streams">{formatCount(streams)}</Fact>
          <Fact name="Webhooks">
            {push.isOn ? <a href="/webhooks">{push.dead === 0 ? 'none given up' : `${push.dead} given up`}</a> : 'off'}
          </Fact>
          <Fact name="Version">
            Parley {version}, Node {node}
          </Fact>
          <Fact name="Speaks A2A">{protocols.join(', ')}</Fact>
          <Fact name="Up">
            <ElapsedTime at={startedAt} />, since <ClockTime at={startedAt} />
          </Fact>
          <Fact name="Instance">
            <CopyableId id={instance} what="instance" />
          </Fact>
        </FactList>
        <h3 class="health-tasks-title">Tasks</h3>
        <ul class="health-tasks">
          {states.map((state) => (
            <li key={state}>
              <a href={`/tasks?state=${state}`}>
                <TaskStateBadge state={state} />
                {formatCount(tasks[state] ?? 0)}
              </a>
            </li>
          ))}
          {states.length === 0 && (
            <li class="faint">
              None yet. <a href="/playground">Send a first message</a>
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
