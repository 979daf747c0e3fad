/**
 * A layered graph layout, left to right: each box close to its neighbours, with few crossings. An edge over several layers gets a
 * position of its own in each. Pure.
 */
import { sweepCount, neighboursOf, reorderLayers, centerPositions } from './layer-positions.ts'

export interface GraphEdge {
  readonly from: string
  readonly to: string
}

export interface LayoutSizes {
  readonly width: number
  readonly height: number
  /** Between two layers. */
  readonly along: number
  /** Between two boxes of a layer. */
  readonly across: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface GraphLayout {
  /** The upper left corner of each box. */
  readonly positions: ReadonlyMap<string, Point>
  /** From box to box, in the order of the given edges. */
  readonly lines: readonly (readonly Point[])[]
  readonly width: number
  readonly height: number
}

/** The share of a box height that an edge takes when it passes through a layer. */
const passageShare = 0.4

export function layoutGraph(ids: readonly string[], arrows: readonly GraphEdge[], sizes: LayoutSizes): GraphLayout {
  const known = arrows.filter(({ from, to }) => from !== to)
  const back = findBackEdges(ids, known)
  const forward = known.map((arrow) => (back.has(arrow) ? { from: arrow.to, to: arrow.from } : arrow))
  const rankOf = rankNodes(ids, forward)
  const routes = forward.map((arrow, index) => routeOf(arrow, index, rankOf))
  const layers = layersOf(ids, rankOf, routes)
  const neighbours = neighboursOf(routes)
  for (let sweep = 0; sweep < sweepCount; sweep += 1) reorderLayers(layers, neighbours, sweep % 2 === 0)
  const isBox = new Set(ids)
  const heightOf = (id: string): number => (isBox.has(id) ? sizes.height : sizes.height * passageShare)
  const middles = centerPositions(layers, neighbours, heightOf, sizes.across)

  const left = (id: string): number => (rankOf.get(id) ?? 0) * (sizes.width + sizes.along)
  const middle = (id: string): number => middles.get(id) ?? 0
  const places = new Map(ids.map((id) => [id, { x: left(id), y: middle(id) - sizes.height / 2 }]))
  const lineOf = (arrow: GraphEdge): readonly Point[] => {
    const at = known.indexOf(arrow)
    const route = routes[at]
    if (route === undefined) return []
    const points = pointsOf(route, left, middle, sizes.width)
    return forward[at]?.from === arrow.from ? points : points.toReversed()
  }
  const depth = layers.length
  return {
    positions: places,
    lines: arrows.map(lineOf),
    width: depth === 0 ? 0 : depth * sizes.width + (depth - 1) * sizes.along,
    height: Math.max(0, ...ids.map((id) => middle(id) + sizes.height / 2)),
  }
}

/** The edges that lead back to a visited node, and so close a cycle. */
function findBackEdges(ids: readonly string[], arrows: readonly GraphEdge[]): ReadonlySet<GraphEdge> {
  const back = new Set<GraphEdge>()
  const state = new Map<string, 'open' | 'done'>()
  const from = Map.groupBy(arrows, (arrow) => arrow.from)
  function visit(id: string): void {
    state.set(id, 'open')
    for (const arrow of from.get(id) ?? []) {
      const reached = state.get(arrow.to)
      if (reached === 'open') back.add(arrow)
      else if (reached === undefined) visit(arrow.to)
    }
    state.set(id, 'done')
  }
  for (const id of ids) if (!state.has(id)) visit(id)
  return back
}

/** One layer after the last of its predecessors. */
function rankNodes(ids: readonly string[], arrows: readonly GraphEdge[]): Map<string, number> {
  const into = Map.groupBy(arrows, ({ to }) => to)
  const found = new Map<string, number>()
  function rank(id: string): number {
    const before = found.get(id)
    if (before !== undefined) return before
    const own = Math.max(-1, ...(into.get(id) ?? []).map(({ from }) => rank(from))) + 1
    found.set(id, own)
    return own
  }
  for (const id of ids) rank(id)
  return found
}

/** The boxes at its ends and its passages in between, layer by layer. */
function routeOf({ from, to }: GraphEdge, index: number, rankOf: Map<string, number>): readonly string[] {
  const [first, last] = [rankOf.get(from) ?? 0, rankOf.get(to) ?? 0]
  const passages = Array.from({ length: Math.max(0, last - first - 1) }, (_, n) => `${index}/${first + n + 1}`)
  for (const [n, id] of passages.entries()) rankOf.set(id, first + n + 1)
  return [from, ...passages, to]
}

/** In depth-first order; for a tree this order has no crossings. */
function layersOf(
  ids: readonly string[],
  rankOf: ReadonlyMap<string, number>,
  routes: readonly (readonly string[])[],
): string[][] {
  const layers: string[][] = []
  const next = Map.groupBy(
    routes.flatMap((route) => route.slice(1).map((to, index) => ({ from: route[index] ?? to, to }))),
    ({ from }) => from,
  )
  const seen = new Set<string>()
  function add(id: string): void {
    if (seen.has(id)) return
    seen.add(id)
    const layer = (layers[rankOf.get(id) ?? 0] ??= [])
    layer.push(id)
    for (const { to } of next.get(id) ?? []) add(to)
  }
  for (const id of ids) add(id)
  return Array.from(layers, (layer) => layer ?? [])
}

function pointsOf(
  route: readonly string[],
  left: (id: string) => number,
  middle: (id: string) => number,
  width: number,
): readonly Point[] {
  return route.flatMap((id, index) => {
    const [start, end] = [
      { x: left(id), y: middle(id) },
      { x: left(id) + width, y: middle(id) },
    ]
    if (index === 0) return [end]
    return index === route.length - 1 ? [start] : [start, end]
  })
}

/** A path with horizontal ends and a bend in between. */
export function curvePath(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let [path, from] = [`M${round(first.x)} ${round(first.y)}`, first]
  for (const to of rest) {
    const middle = round((from.x + to.x) / 2)
    path +=
      from.y === to.y
        ? `H${round(to.x)}`
        : `C${middle} ${round(from.y)} ${middle} ${round(to.y)} ${round(to.x)} ${round(to.y)}`
    from = to
  }
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
