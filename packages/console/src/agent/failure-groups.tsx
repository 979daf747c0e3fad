/** Why tasks of an agent or of all agents failed: the groups of the hub, each with its trend and a link to its newest task. */
import type { FailureGroup, Operations } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { useResource } from '../api/resource.ts'
import { formatCount, pluralize } from '../components/format.ts'
import { Icon } from '../components/icon.tsx'
import { ErrorNotice } from '../components/status/error-notice.tsx'
import { RelativeTime } from '../components/time.tsx'
import './failure-groups.css'
import '../components/status/tags.css'

export interface FailureGroupsProps {
  readonly range: NonNullable<Operations['listFailures']['query']['range']>
  /** Such as "the last hour". */
  readonly rangeName: string
  /** Empty: all agents. */
  readonly agent: string
  readonly limit: number
}

export function FailureGroups({ range, rangeName, agent, limit }: FailureGroupsProps) {
  const found = useResource(
    `failures ${range} ${agent}`,
    (signal) => callAdmin('listFailures', { query: { range, limit, ...(agent === '' ? {} : { agent }) }, signal }),
    (change) =>
      change.type === 'tasks' ||
      (change.type === 'task' && change.task.state === 'TASK_STATE_FAILED' && [change.task.agent, ''].includes(agent)),
  )
  if (found.problem.value !== undefined) return <ErrorNotice reason={found.problem.value} retry={found.reload} />
  const failures = found.value.value
  if (failures === undefined) return <p class="failures-note" aria-busy="true" />
  const { groups, more, read, isCut } = failures
  if (groups.length === 0)
    return (
      <p class="failures-note">
        <Icon name="check" /> No failed tasks in {rangeName}.
      </p>
    )
  return (
    <>
      <ul class="failures">
        {groups.map((group) => (
          <li key={group.newest.id}>
            <FailureRow group={group} hasAgent={agent === ''} />
          </li>
        ))}
      </ul>
      {(more > 0 || isCut) && (
        <p class="failures-note">
          {more > 0 && `${pluralize(more, 'more reason')}. `}
          {isCut && `Only the newest ${formatCount(read)} failed tasks of ${rangeName} were read.`}
        </p>
      )}
    </>
  )
}

function FailureRow({ group, hasAgent }: { readonly group: FailureGroup; readonly hasAgent: boolean }) {
  const { agent, code, cause, count, since, newest, trend } = group
  return (
    <a class="tile-row" href={`/tasks/${newest.id}`} title="Open the newest task">
      <span class="row">
        <span class="failures-count">{formatCount(count)}×</span>
        {hasAgent && <span class="failures-agent">{agent}</span>}
        {code !== undefined && <code class="agent-tag">{code}</code>}
        <span class="grow" />
        <Trend counts={trend} />
      </span>
      <span class="failures-cause" dir="auto">
        {cause ?? 'No error was reported'}
      </span>
      <span class="faint">
        <RelativeTime at={newest.statusAt} />
        {count > 1 && (
          <>
            , first <RelativeTime at={since} />
          </>
        )}
      </span>
    </a>
  )
}

function Trend({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts)
  return (
    <svg
      class="failures-trend"
      viewBox={`0 0 ${counts.length * 4} 16`}
      role="img"
      aria-label={`Over time: ${counts.join(', ')}`}
    >
      {counts.map((count, step) => (
        <rect key={step} x={step * 4} y={15 - (count / most) * 15} width={3} height={1 + (count / most) * 15} />
      ))}
    </svg>
  )
}
