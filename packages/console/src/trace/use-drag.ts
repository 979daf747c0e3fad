/** Dragging with mouse or touch. A press without movement stays a click, so that links inside can be followed. */
import { useRef } from 'preact/hooks'

/** Shorter movements do not count as a drag. */
const dragThresholdPx = 4

interface DragState {
  readonly pointerId: number
  x: number
  y: number
  hasMoved: boolean
}

export function useDrag(onMove: (dx: number, dy: number) => void) {
  const grip = useRef<DragState | undefined>(undefined)

  return {
    onPointerDown(event: PointerEvent): void {
      if (event.button !== 0) return
      grip.current = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, hasMoved: false }
    },
    onPointerMove(event: PointerEvent): void {
      const held = grip.current
      if (held === undefined || held.pointerId !== event.pointerId) return
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y]
      if (!held.hasMoved && Math.hypot(dx, dy) < dragThresholdPx) return
      if (!held.hasMoved) (event.currentTarget as Element).setPointerCapture(event.pointerId)
      grip.current = { ...held, x: event.clientX, y: event.clientY, hasMoved: true }
      onMove(dx, dy)
    },
    onPointerUp(): void {
      // The click event that ends a drag is still to come.
      setTimeout(() => (grip.current = undefined))
    },
    onPointerCancel(): void {
      grip.current = undefined
    },
    onClickCapture(event: MouseEvent): void {
      if (grip.current?.hasMoved !== true) return
      event.preventDefault()
      event.stopPropagation()
    },
    // Otherwise the browser would drag the link.
    onDragStart: (event: DragEvent): void => event.preventDefault(),
  }
}
