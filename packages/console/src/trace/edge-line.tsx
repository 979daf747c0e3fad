/** The calls from one task or agent to another: how many, and how long they took. */
import { duration } from '../parts/words.ts'
import type { DelegationEdge } from './delegation.ts'
import { curve } from './layered.ts'
import type { Point } from './layered.ts'

export function EdgeLine({ edge, points }: { readonly edge: DelegationEdge; readonly points: readonly Point[] }) {
  const { calls, durationMs, errors, isRunning } = edge
  const tone = errors > 0 ? 'failed' : isRunning ? 'working' : ''
  const label = `${calls > 1 ? `${calls}× · ` : ''}${duration(durationMs)}${errors > 0 ? ` · ✕ ${errors}` : ''}`
  const at = middleOf(points)
  return (
    <g class={`delegation-edge ${tone}`}>
      <path d={curve(points)} marker-end="url(#delegation-arrow)" />
      {at !== undefined && (
        <text x={at.x} y={at.y - 5}>
          {label}
        </text>
      )}
    </g>
  )
}

/** On the piece that leads to the end: that is where the line is alone. */
function middleOf(points: readonly Point[]): Point | undefined {
  const [from, to] = points.slice(-2)
  return from === undefined || to === undefined ? undefined : { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
}
