/** What is seen of a drawing: how far it is moved, and how large it is shown. Pure. */

export interface View {
  readonly x: number
  readonly y: number
  readonly scale: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

const smallest = 0.1
const largest = 2
const readable = 0.6
/** Around a drawing that is fitted in. */
const margin = 24

/** All of it, in the middle; what is small is not blown up. */
export function fitted(drawing: Size, frame: Size): View {
  const room = (inside: number, outside: number): number => Math.max(1, outside - 2 * margin) / Math.max(1, inside)
  const scale = clamp(Math.min(1, room(drawing.width, frame.width), room(drawing.height, frame.height)))
  return {
    x: (frame.width - drawing.width * scale) / 2,
    y: (frame.height - drawing.height * scale) / 2,
    scale,
  }
}

/** What is seen at first: all of it, or, where that would be too small to be read, what it begins with. */
export function opened(drawing: Size, frame: Size, first: { readonly y: number; readonly height: number }): View {
  const whole = fitted(drawing, frame)
  if (whole.scale >= readable) return whole
  return { x: margin, y: frame.height / 2 - (first.y + first.height / 2) * readable, scale: readable }
}

/** What is under the point stays there. */
export function zoomed(view: View, factor: number, at: { readonly x: number; readonly y: number }): View {
  const scale = clamp(view.scale * factor)
  const share = scale / view.scale
  return { x: at.x - (at.x - view.x) * share, y: at.y - (at.y - view.y) * share, scale }
}

export function moved(view: View, dx: number, dy: number): View {
  return { ...view, x: view.x + dx, y: view.y + dy }
}

/** Moved no further than it takes until something is seen. */
export function seen(view: View, box: Size & { readonly x: number; readonly y: number }, frame: Size): View {
  const shift = (from: number, length: number, whole: number): number => {
    if (from < margin) return margin - from
    return from + length > whole - margin ? Math.max(margin - from, whole - margin - from - length) : 0
  }
  return moved(
    view,
    shift(view.x + box.x * view.scale, box.width * view.scale, frame.width),
    shift(view.y + box.y * view.scale, box.height * view.scale, frame.height),
  )
}

function clamp(scale: number): number {
  return Math.min(largest, Math.max(smallest, scale))
}
