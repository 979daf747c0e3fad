/** A button with a small panel under it: choices that are too many for the bar, or a question before something is done. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'
import './menu.css'

export interface MenuProps {
  readonly label: string
  readonly icon?: IconName
  /** Seen beside the label: what is chosen. */
  readonly chosen?: string | undefined
  /** On which side of the button the panel is flush. */
  readonly side?: 'left' | 'right'
  readonly class?: string
  readonly isIconOnly?: boolean
  /** What the panel holds; it closes with what it is given. */
  children(close: () => void): ComponentChildren
}

export function Menu(props: MenuProps) {
  const { label, icon, chosen = '', side = 'left', isIconOnly = false } = props
  const isOpen = useSignal(false)
  const frame = useRef<HTMLDivElement>(null)

  function close(): void {
    isOpen.value = false
  }

  useEffect(() => {
    if (!isOpen.value) return
    frame.current?.querySelector<HTMLElement>('.menu-panel :is(input, select, textarea, button, a)')?.focus()
    const outside = (event: Event): void => {
      if (event.target instanceof Node && frame.current?.contains(event.target) !== true) close()
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [isOpen.value])

  function press(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !isOpen.value) return
    // Whoever closes a menu does not mean to leave the page.
    event.preventDefault()
    event.stopPropagation()
    close()
    frame.current?.querySelector('button')?.focus()
  }

  return (
    <div ref={frame} class="menu" onKeyDown={press}>
      <button
        type="button"
        class={`${isIconOnly ? 'icon ' : ''}${props.class ?? ''}`}
        aria-expanded={isOpen.value}
        aria-label={isIconOnly ? label : undefined}
        title={isIconOnly ? label : undefined}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {icon !== undefined && <Icon name={icon} size={14} />}
        {!isIconOnly && label}
        {chosen !== '' && <span class="menu-chosen">{chosen}</span>}
        {!isIconOnly && <Icon name="down" size={12} />}
      </button>
      {isOpen.value && (
        <div class={`menu-panel ${side}`} role="group" aria-label={label}>
          {props.children(close)}
        </div>
      )}
    </div>
  )
}
