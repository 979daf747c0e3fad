/** Moving by hand: with a mouse or a finger. What was only a press stays one, so that links in what is moved can be followed. */
import { useRef } from 'preact/hooks'

/** Less is no movement. */
const slackPx = 4

interface Grip {
  readonly pointerId: number
  x: number
  y: number
  hasMoved: boolean
}

export function useDrag(onMove: (dx: number, dy: number) => void) {
  const grip = useRef<Grip | undefined>(undefined)

  return {
    onPointerDown(event: PointerEvent): void {
      if (event.button !== 0) return
      grip.current = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, hasMoved: false }
    },
    onPointerMove(event: PointerEvent): void {
      const held = grip.current
      if (held === undefined || held.pointerId !== event.pointerId) return
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y]
      if (!held.hasMoved && Math.hypot(dx, dy) < slackPx) return
      if (!held.hasMoved) (event.currentTarget as Element).setPointerCapture(event.pointerId)
      grip.current = { ...held, x: event.clientX, y: event.clientY, hasMoved: true }
      onMove(dx, dy)
    },
    onPointerUp(): void {
      // The press that ends a movement is still to come.
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
    // A browser would carry the link away instead.
    onDragStart: (event: DragEvent): void => event.preventDefault(),
  }
}
