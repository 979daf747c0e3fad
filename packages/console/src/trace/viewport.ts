/** The visible part of a drawing: offset and scale. Pure. */
import type { ElementSize } from '../components/layout/use-size.ts'

export interface Viewport {
  readonly x: number
  readonly y: number
  readonly scale: number
}

const minScale = 0.1
const maxScale = 2
const minReadableScale = 0.6
/** Around a drawing that is fitted in. */
const margin = 24

/** The whole drawing, centred; a small one is not enlarged. */
export function fitViewport(drawing: ElementSize, frame: ElementSize): Viewport {
  const room = (inside: number, outside: number): number => Math.max(1, outside - 2 * margin) / Math.max(1, inside)
  const scale = clampScale(Math.min(1, room(drawing.width, frame.width), room(drawing.height, frame.height)))
  return {
    x: (frame.width - drawing.width * scale) / 2,
    y: (frame.height - drawing.height * scale) / 2,
    scale,
  }
}

/** The initial view: the whole drawing, or its beginning if the whole would be too small to read. */
export function initialViewport(
  drawing: ElementSize,
  frame: ElementSize,
  first: { readonly y: number; readonly height: number },
): Viewport {
  const whole = fitViewport(drawing, frame)
  if (whole.scale >= minReadableScale) return whole
  return { x: margin, y: frame.height / 2 - (first.y + first.height / 2) * minReadableScale, scale: minReadableScale }
}

/** The position under the pointer stays fixed. */
export function zoomViewport(view: Viewport, factor: number, at: { readonly x: number; readonly y: number }): Viewport {
  const scale = clampScale(view.scale * factor)
  const share = scale / view.scale
  return { x: at.x - (at.x - view.x) * share, y: at.y - (at.y - view.y) * share, scale }
}

export function panViewport(view: Viewport, dx: number, dy: number): Viewport {
  return { ...view, x: view.x + dx, y: view.y + dy }
}

/** Moves the view by the minimum that makes the box visible. */
export function revealBox(
  view: Viewport,
  box: ElementSize & { readonly x: number; readonly y: number },
  frame: ElementSize,
): Viewport {
  const shift = (from: number, length: number, whole: number): number => {
    if (from < margin) return margin - from
    return from + length > whole - margin ? Math.max(margin - from, whole - margin - from - length) : 0
  }
  return panViewport(
    view,
    shift(view.x + box.x * view.scale, box.width * view.scale, frame.width),
    shift(view.y + box.y * view.scale, box.height * view.scale, frame.height),
  )
}

function clampScale(scale: number): number {
  return Math.min(maxScale, Math.max(minScale, scale))
}
