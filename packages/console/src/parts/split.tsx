/** A list and what is selected in it, side by side; how wide the list is, is remembered. On a phone the detail covers the list. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { remember, remembered } from '../app/memory.ts'
import './split.css'

const least = 280
const step = 24

export function Split({
  name,
  list,
  detail,
  initial = 440,
}: {
  /** By which its width is remembered. */
  readonly name: string
  readonly list: ComponentChildren
  /** Nothing where nothing is selected. */
  readonly detail?: ComponentChildren
  readonly initial?: number
}) {
  const width = useSignal(Number(remembered(`split.${name}`) ?? initial))
  const frame = useRef<HTMLDivElement>(null)
  const isOpen = detail !== undefined && detail !== null && detail !== false

  function widen(wanted: number): void {
    const most = Math.max(least, (frame.current?.clientWidth ?? 1_200) - 360)
    width.value = Math.min(most, Math.max(least, Math.round(wanted)))
    remember(`split.${name}`, String(width.value))
  }

  function drag(event: PointerEvent): void {
    const handle = event.currentTarget as HTMLElement
    handle.setPointerCapture(event.pointerId)
    const left = frame.current?.getBoundingClientRect().left ?? 0
    const move = (moved: PointerEvent): void => widen(moved.clientX - left)
    handle.addEventListener('pointermove', move)
    handle.addEventListener('pointerup', () => handle.removeEventListener('pointermove', move), { once: true })
  }

  function press(event: KeyboardEvent): void {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    widen(width.value + (event.key === 'ArrowLeft' ? -step : step))
  }

  return (
    <div ref={frame} class={isOpen ? 'split open' : 'split'}>
      <div class="split-list" style={isOpen ? { width: `${width.value}px` } : undefined}>
        {list}
      </div>
      {isOpen && (
        <>
          <div
            class="split-handle"
            role="separator"
            tabIndex={0}
            aria-label="Width of the list"
            aria-orientation="vertical"
            aria-valuenow={width.value}
            aria-valuemin={least}
            onPointerDown={drag}
            onKeyDown={press}
          />
          <section class="split-detail" aria-label="Selected">
            {detail}
          </section>
        </>
      )}
    </div>
  )
}
