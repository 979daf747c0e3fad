/** The health of the hub: findings first, then the components. */
import type { Health, Storage } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useAgentsWithLoad, useHealth } from '../../../api/agents.ts'
import { connectionStatus } from '../../../api/change-feed.ts'
import { useResource } from '../../../api/resource.ts'
import { CopyableId } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { StatusBadge, TaskStateBadge, taskStates } from '../../../components/status/task-state.tsx'
import { ClockTime, ElapsedTime } from '../../../components/time.tsx'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { formatBytes, formatCount, formatDuration, pluralize } from '../../../components/format.ts'
import { useVisibleInterval } from '../../../api/use-visible-interval.ts'
import { findingsOf, type Finding } from './findings.ts'
import './health.css'

/** The change feed has no events for elapsed time, streams or a failing store. */
const reloadMs = 5_000

export function HealthView() {
  const health = useHealth(({ type }) => type !== 'reset')
  const agents = useAgentsWithLoad()
  const stats = useResource('stats', (signal) => callAdmin('getStats', { query: { range: '1h' }, signal }))
  useVisibleInterval(reloadMs, () => {
    health.reload()
    stats.reload()
  })
  const found = health.value.value
  // All at once: a finding that comes later would move what is below it.
  const hasLoaded = [health, agents, stats].every(({ value, problem }) => value.value ?? problem.value)
  return (
    <div class="scroll stack-wider health">
      <LoadState of={health} what="the health of the hub" />
      {found !== undefined && hasLoaded && (
        <>
          <HealthSummary findings={findingsOf(found, agents.value.value ?? [], stats.value.value?.steps ?? [])} />
          <HubFacts health={found} />
        </>
      )}
    </div>
  )
}

function HealthSummary({ findings }: { readonly findings: readonly Finding[] }) {
  const bad = findings.filter(({ grade }) => grade === 'bad').length
  const isAway = connectionStatus.value === 'away'
  const title = isAway
    ? 'The hub is not responding'
    : bad > 0
      ? pluralize(bad, 'issue')
      : findings.length > 0
        ? `Healthy, with ${pluralize(findings.length, 'warning')}`
        : 'Healthy'
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
        word={grade === 'bad' ? 'issue' : 'warning'}
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

function StorageFacts({ storage }: { readonly storage: Storage }) {
  const { bytes, walBytes, growth, oldestTask, lastBackup } = storage
  return (
    <>
      {bytes !== undefined && (
        <Fact name="Size">
          {formatBytes(bytes + (walBytes ?? 0))}
          {growth.day !== undefined && `, ${formatBytes(Math.max(0, growth.day.bytes))} more than a day ago`}
        </Fact>
      )}
      {oldestTask !== undefined && (
        <Fact name="Oldest task">
          <ElapsedTime at={oldestTask} />
        </Fact>
      )}
      <Fact name="Last backup">{lastBackup === undefined ? 'None known' : <ClockTime at={lastBackup} />}</Fact>
    </>
  )
}

function HubFacts({ health }: { readonly health: Health }) {
  const { store, storage, agents, tasks, streams, push, version, node, protocols, instance, startedAt } = health
  const states = taskStates.filter((state) => (tasks[state] ?? 0) > 0)
  return (
    <section aria-labelledby="health-parts">
      <h2 id="health-parts">Components</h2>
      <div class="panel panel-body">
        <FactList>
          <Fact name="Store">
            {store.isReady
              ? `${store.name}, responds in ${formatDuration(Math.max(1, store.latencyMs))}`
              : `${store.name}, not responding`}
          </Fact>
          <Fact name="Agents">
            <a href="/agents">
              {agents.up} of {agents.all} up
            </a>
          </Fact>
          {storage !== undefined && <StorageFacts storage={storage} />}
          <Fact name="Open streams">{formatCount(streams)}</Fact>
          <Fact name="Webhooks">
            {push.isOn ? (
              <a href="/webhooks">{push.dead === 0 ? 'All deliverable' : `${formatCount(push.dead)} undeliverable`}</a>
            ) : (
              'Disabled'
            )}
          </Fact>
          <Fact name="Version">
            Parley {version}, Node {node}
          </Fact>
          <Fact name="A2A versions">{protocols.join(', ')}</Fact>
          <Fact name="Uptime">
            <ElapsedTime at={startedAt} />
            {', since '}
            <ClockTime at={startedAt} />
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
              No tasks yet. <a href="/playground">Send a first message</a>
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
