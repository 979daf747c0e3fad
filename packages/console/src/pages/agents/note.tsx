/** Something that whoever looks should know, and perhaps do something about. */
import type { ComponentChildren } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import './note.css'

export function Note({
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
