/** The calls from one task or agent to another: their number and total duration. */
import { formatDuration } from '../components/format.ts'
import type { DelegationEdge } from './delegation.ts'
import { curvePath } from './graph-layout.ts'
import type { Point } from './graph-layout.ts'

export function EdgeLine({ edge, points }: { readonly edge: DelegationEdge; readonly points: readonly Point[] }) {
  const { calls, durationMs, errors, isRunning } = edge
  const tone = errors > 0 ? 'failed' : isRunning ? 'working' : ''
  const label = `${calls > 1 ? `${calls}× · ` : ''}${formatDuration(durationMs)}${errors > 0 ? ` · ✕ ${errors}` : ''}`
  const at = middleOf(points)
  return (
    <g class={`delegation-edge ${tone}`}>
      <path d={curvePath(points)} marker-end="url(#delegation-arrow)" />
      {at !== undefined && (
        <text x={at.x} y={at.y - 5}>
          {label}
        </text>
      )}
    </g>
  )
}

/** On the last segment, which no other line shares. */
function middleOf(points: readonly Point[]): Point | undefined {
  const [from, to] = points.slice(-2)
  return from === undefined || to === undefined ? undefined : { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
}
