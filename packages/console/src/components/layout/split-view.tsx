/** A list and its selected item side by side. The width of the list is stored. On a phone the detail covers the list. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { savePreference, readPreference } from '../../app/preferences.ts'
import './split-view.css'

const minWidthPx = 280
const keyStepPx = 24

export function SplitView({
  name,
  list,
  detail,
  initial = 440,
}: {
  /** Key under which the width is stored. */
  readonly name: string
  readonly list: ComponentChildren
  /** `undefined` if nothing is selected. */
  readonly detail?: ComponentChildren
  readonly initial?: number
}) {
  const width = useSignal(Number(readPreference(`split.${name}`) ?? initial))
  const frame = useRef<HTMLDivElement>(null)
  const isOpen = detail !== undefined && detail !== null && detail !== false

  function widen(wanted: number): void {
    const most = Math.max(minWidthPx, (frame.current?.clientWidth ?? 1_200) - 360)
    width.value = Math.min(most, Math.max(minWidthPx, Math.round(wanted)))
    savePreference(`split.${name}`, String(width.value))
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
    widen(width.value + (event.key === 'ArrowLeft' ? -keyStepPx : keyStepPx))
  }

  return (
    <div ref={frame} class={isOpen ? 'split open' : 'split'}>
      <div class="fill split-list" style={isOpen ? { width: `${width.value}px` } : undefined}>
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
            aria-valuemin={minWidthPx}
            onPointerDown={drag}
            onKeyDown={press}
          />
          <section class="fill split-detail" aria-label="Selected">
            {detail}
          </section>
        </>
      )}
    </div>
  )
}
