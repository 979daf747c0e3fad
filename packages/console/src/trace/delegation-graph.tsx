/** The delegation graph: boxes and arrows, panned and zoomed by pointer, keys and buttons. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { Span } from '../api/admin.ts'
import { now } from '../api/resource.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { query, setQuery } from '../app/router.ts'
import { SegmentedControl } from '../components/layout/tabs.tsx'
import { useSize } from '../components/layout/use-size.ts'
import { formatCount, formatDuration } from '../components/format.ts'
import { delegationOf, type DelegationEdge, type Grouping } from './delegation.ts'
import { boxHeight, boxWidth, NodeBox } from './node-box.tsx'
import { curvePath, layoutGraph, type Point } from './graph-layout.ts'
import { isSpanRunning, flattenSpans } from './span-tree.ts'
import { fitViewport, panViewport, initialViewport, revealBox, zoomViewport, type Viewport } from './viewport.ts'
import { useDrag } from './use-drag.ts'
import './delegation-graph.css'
import { traceStrings } from './strings.ts'

const { graph: strings } = traceStrings

const gaps = { along: 120, across: 24 }
const stepPx = 60
const zoomStep = 1.25

export function DelegationGraph({ roots }: { readonly roots: readonly Span[] }) {
  const grouping: Grouping = query.value.get('group') === 'agent' ? 'agent' : 'task'
  const at = useMemo(() => flattenSpans(roots).some(isSpanRunning), [roots]) ? now.value : 0
  const { nodes, edges } = useMemo(() => delegationOf(roots, grouping, at), [roots, grouping, at])
  const box = { width: boxWidth, height: boxHeight(nodes) }
  const shape = `${box.height} ${nodes.map(({ id }) => id).join()} ${edges.map(({ from, to }) => `${from}>${to}`).join()}`
  // Durations change; the layout depends on nodes and edges alone.
  const layout = useMemo(
    () =>
      layoutGraph(
        nodes.map(({ id }) => id),
        edges,
        { ...box, ...gaps },
      ),
    [shape],
  )

  const frame = useRef<HTMLDivElement>(null)
  const frameSize = useSize(frame, { width: 800, height: 500 })
  /** `undefined` until the user moves or zooms the view. */
  const chosen = useSignal<Viewport | undefined>(undefined)
  const first = { y: layout.positions.get(nodes[0]?.id ?? '')?.y ?? 0, height: box.height }
  const view = chosen.value ?? initialViewport(layout, frameSize.value, first)
  const drag = useDrag((dx, dy) => (chosen.value = panViewport(chosen.value ?? view, dx, dy)))

  const middle = (): { x: number; y: number } => ({
    x: frameSize.value.width / 2,
    y: frameSize.value.height / 2,
  })
  const zoom = (factor: number, around = middle()): void => {
    chosen.value = zoomViewport(view, factor, around)
  }
  const move = (dx: number, dy: number): void => {
    chosen.value = panViewport(view, dx, dy)
  }
  const fit = (): void => {
    chosen.value = fitViewport(layout, frameSize.value)
  }
  function wheel(event: WheelEvent): void {
    event.preventDefault()
    // A touchpad pinch is a wheel event with Ctrl.
    if (!event.ctrlKey && !event.metaKey) return move(-event.deltaX, -event.deltaY)
    const { left = 0, top = 0 } = frame.current?.getBoundingClientRect() ?? {}
    zoom(Math.exp(-event.deltaY / 200), { x: event.clientX - left, y: event.clientY - top })
  }
  function show(id: string): void {
    const place = layout.positions.get(id)
    if (place === undefined) return
    const next = revealBox(view, { ...place, ...box }, frameSize.value)
    if (next.x !== view.x || next.y !== view.y) chosen.value = next
  }
  useShortcuts([
    { key: '+', label: strings.zoomIn, run: () => zoom(zoomStep) },
    { key: '=', label: strings.zoomIn, run: () => zoom(zoomStep) },
    { key: '-', label: strings.zoomOut, run: () => zoom(1 / zoomStep) },
    { key: '0', label: strings.fitAll, run: fit },
    { key: 'ArrowLeft', label: strings.left, run: () => move(stepPx, 0) },
    { key: 'ArrowRight', label: strings.right, run: () => move(-stepPx, 0) },
    { key: 'ArrowUp', label: strings.up, run: () => move(0, stepPx) },
    { key: 'ArrowDown', label: strings.down, run: () => move(0, -stepPx) },
  ])

  return (
    <section class="delegation" aria-label={strings.label}>
      <div class="bar delegation-tools">
        <SegmentedControl
          label={strings.boxes}
          value={grouping}
          options={[
            ['task', strings.byTask],
            ['agent', strings.byAgent],
          ]}
          onChange={(wanted) => setQuery({ group: wanted === 'agent' ? 'agent' : '' })}
        />
        <span class="faint">
          {strings.counts(
            nodes.length,
            grouping,
            edges.reduce((sum, { calls }) => sum + calls, 0),
          )}
        </span>
        <span class="grow" />
        <button
          type="button"
          class="small"
          aria-label={strings.zoomOut}
          title={strings.zoomOutHint}
          onClick={() => zoom(1 / zoomStep)}
        >
          −
        </button>
        <span class="delegation-scale" aria-live="polite">
          {strings.scale(formatCount(Math.round(view.scale * 100)))}
        </span>
        <button
          type="button"
          class="small"
          aria-label={strings.zoomIn}
          title={strings.zoomInHint}
          onClick={() => zoom(zoomStep)}
        >
          +
        </button>
        <button type="button" class="small" title={strings.fitHint} onClick={fit}>
          {strings.fit}
        </button>
      </div>
      <div ref={frame} class="delegation-frame" onWheel={wheel} {...drag}>
        <svg class="delegation-drawing" role="group" aria-label={strings.drawing(nodes.length, grouping)}>
          <defs>
            <marker
              id="delegation-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {edges.map((edge, index) => (
              <EdgeLine key={`${edge.from} ${edge.to}`} edge={edge} points={layout.lines[index] ?? []} />
            ))}
            {nodes.map((node) => (
              <NodeBox
                key={node.id}
                node={node}
                height={box.height}
                at={layout.positions.get(node.id) ?? { x: 0, y: 0 }}
                onFocus={() => show(node.id)}
              />
            ))}
          </g>
        </svg>
      </div>
    </section>
  )
}

/** The calls from one task or agent to another: their number and total duration. */
function EdgeLine({ edge, points }: { readonly edge: DelegationEdge; readonly points: readonly Point[] }) {
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
