/** One entry in the list: when, how it went, who, what, of whom. */
import type { AuditEntry } from '../../../api/admin.ts'
import { Mark, State } from '../../../parts/state.tsx'
import { exact } from '../../../parts/time.tsx'
import { duration, shortened } from '../../../parts/words.ts'
import { outcomeLook, whatOf, whoOf } from './audit-words.ts'

interface AuditRowProps {
  readonly entry: AuditEntry
  readonly href: string
  readonly isOpen: boolean
}

export function AuditRow({ entry, href, isOpen }: AuditRowProps) {
  const look = outcomeLook(entry)
  const at = new Date(entry.at)
  return (
    <a class="list-row audit-row" href={href} aria-current={isOpen ? 'true' : undefined}>
      <time class="audit-time" dateTime={entry.at} title={exact(at)}>
        {isToday(at) ? '' : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} `}
        {at.toLocaleTimeString('en-GB')}
      </time>
      <span class="audit-what cut">
        {entry.event === 'task.state' ? `task ${shortened(entry.task ?? '')}` : whatOf(entry)}
        {entry.agent !== undefined && <span class="audit-agent"> {entry.agent}</span>}
      </span>
      <span class="audit-who cut" title={entry.who}>
        {whoOf(entry)}
      </span>
      <span class="audit-took">{entry.durationMs === undefined ? '' : duration(entry.durationMs)}</span>
      <span class="audit-outcome">
        {entry.state !== undefined ? <State state={entry.state} /> : look !== undefined && <Mark {...look} />}
      </span>
    </a>
  )
}

function isToday(at: Date): boolean {
  return at.toDateString() === new Date().toDateString()
}
