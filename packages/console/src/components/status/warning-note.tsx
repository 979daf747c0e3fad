/** A warning that the user may have to act on. */
import type { ComponentChildren } from 'preact'
import { Icon } from '../icon.tsx'
import './warning-note.css'

export function WarningNote({
  tone = 'waiting',
  children,
}: {
  readonly tone?: 'waiting' | 'failed'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`agent-note ${tone}`}>
      <Icon name="warning" />
      <div class="grow">{children}</div>
    </div>
  )
}
