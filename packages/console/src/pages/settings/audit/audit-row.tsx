/** One entry of the list: time, outcome, actor, action and object. */
import type { AuditEntry } from '../../../api/admin.ts'
import { StatusBadge, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { formatDuration, truncateMiddle } from '../../../components/format.ts'
import { outcomeStatus, auditAction, auditActor } from './audit-text.ts'

interface AuditRowProps {
  readonly entry: AuditEntry
  readonly href: string
  readonly isOpen: boolean
}

export function AuditRow({ entry, href, isOpen }: AuditRowProps) {
  const look = outcomeStatus(entry)
  const at = new Date(entry.at)
  return (
    <a class="list-row audit-row" href={href} aria-current={isOpen ? 'true' : undefined}>
      <time class="audit-time" dateTime={entry.at} title={formatExactTime(at)}>
        {isToday(at) ? '' : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} `}
        {at.toLocaleTimeString('en-GB')}
      </time>
      <span class="audit-what cut">
        {entry.event === 'task.state' ? `task ${truncateMiddle(entry.task ?? '')}` : auditAction(entry)}
        {entry.agent !== undefined && <span class="audit-agent"> {entry.agent}</span>}
      </span>
      <span class="audit-who cut" title={entry.who}>
        {auditActor(entry)}
      </span>
      <span class="audit-took">{entry.durationMs === undefined ? '' : formatDuration(entry.durationMs)}</span>
      <span class="audit-outcome">
        {entry.state !== undefined ? (
          <TaskStateBadge state={entry.state} />
        ) : (
          look !== undefined && <StatusBadge {...look} />
        )}
      </span>
    </a>
  )
}

function isToday(at: Date): boolean {
  return at.toDateString() === new Date().toDateString()
}
