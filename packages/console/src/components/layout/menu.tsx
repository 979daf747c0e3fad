/** A button with a panel below it: choices that do not fit into the bar, or a confirmation. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../icon.tsx'
import './menu.css'

export interface MenuProps {
  readonly label: string
  readonly icon?: IconName
  /** The current choice, shown beside the label. */
  readonly chosen?: string | undefined
  /** The side of the button that the panel aligns with. */
  readonly side?: 'left' | 'right'
  readonly class?: string
  readonly isIconOnly?: boolean
  /** The content of the panel; `close` closes it. */
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
    const closeOnOutsidePress = (event: Event): void => {
      if (event.target instanceof Node && frame.current?.contains(event.target) !== true) close()
    }
    document.addEventListener('pointerdown', closeOnOutsidePress)
    return () => document.removeEventListener('pointerdown', closeOnOutsidePress)
  }, [isOpen.value])

  function handleKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !isOpen.value) return
    // Esc closes only the menu, not the page behind it.
    event.preventDefault()
    event.stopPropagation()
    close()
    frame.current?.querySelector('button')?.focus()
  }

  return (
    <div ref={frame} class="menu" onKeyDown={handleKeyDown}>
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
        <div class={`stack-small menu-panel ${side}`} role="group" aria-label={label}>
          {props.children(close)}
        </div>
      )}
    </div>
  )
}
