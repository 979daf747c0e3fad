/**
 * Where boxes stand that are connected by arrows: in layers from left to right, each box as near as may be to those that it
 * is connected with, few arrows crossing. Arrows over several layers get a place of their own in each. Pure.
 */

export interface Arrow {
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

export interface Layout {
  /** The upper left corner of each box. */
  readonly places: ReadonlyMap<string, Point>
  /** From box to box, in the order of the arrows that were given. */
  readonly lines: readonly (readonly Point[])[]
  readonly width: number
  readonly height: number
}

/** Where an arrow passes through a layer it takes this much of a box. */
const passageShare = 0.4
const sweeps = 8

export function layered(ids: readonly string[], arrows: readonly Arrow[], sizes: LayoutSizes): Layout {
  const known = arrows.filter(({ from, to }) => from !== to)
  const back = backAmong(ids, known)
  const forward = known.map((arrow) => (back.has(arrow) ? { from: arrow.to, to: arrow.from } : arrow))
  const rankOf = ranks(ids, forward)
  const routes = forward.map((arrow, index) => routeOf(arrow, index, rankOf))
  const layers = layersOf(ids, rankOf, routes)
  const neighbours = neighboursOf(routes)
  for (let sweep = 0; sweep < sweeps; sweep += 1) reorder(layers, neighbours, sweep % 2 === 0)
  const isBox = new Set(ids)
  const heightOf = (id: string): number => (isBox.has(id) ? sizes.height : sizes.height * passageShare)
  const middles = middlesOf(layers, neighbours, heightOf, sizes.across)

  const left = (id: string): number => (rankOf.get(id) ?? 0) * (sizes.width + sizes.along)
  const middle = (id: string): number => middles.get(id) ?? 0
  const places = new Map(ids.map((id) => [id, { x: left(id), y: middle(id) - sizes.height / 2 }]))
  const lineOf = (arrow: Arrow): readonly Point[] => {
    const at = known.indexOf(arrow)
    const route = routes[at]
    if (route === undefined) return []
    const points = pointsOf(route, left, middle, sizes.width)
    return forward[at]?.from === arrow.from ? points : points.toReversed()
  }
  const depth = layers.length
  return {
    places,
    lines: arrows.map(lineOf),
    width: depth === 0 ? 0 : depth * sizes.width + (depth - 1) * sizes.along,
    height: Math.max(0, ...ids.map((id) => middle(id) + sizes.height / 2)),
  }
}

/** Those that lead back to where one has come from: they would make a circle. */
function backAmong(ids: readonly string[], arrows: readonly Arrow[]): ReadonlySet<Arrow> {
  const back = new Set<Arrow>()
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

/** One layer behind the last of those that lead to it. */
function ranks(ids: readonly string[], arrows: readonly Arrow[]): Map<string, number> {
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
function routeOf({ from, to }: Arrow, index: number, rankOf: Map<string, number>): readonly string[] {
  const [first, last] = [rankOf.get(from) ?? 0, rankOf.get(to) ?? 0]
  const passages = Array.from({ length: Math.max(0, last - first - 1) }, (_, n) => `${index}/${first + n + 1}`)
  for (const [n, id] of passages.entries()) rankOf.set(id, first + n + 1)
  return [from, ...passages, to]
}

/** In the order in which they are met from the beginning: for a tree there is nothing more to be done. */
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

interface Neighbours {
  readonly before: ReadonlyMap<string, readonly string[]>
  readonly after: ReadonlyMap<string, readonly string[]>
}

function neighboursOf(routes: readonly (readonly string[])[]): Neighbours {
  const before = new Map<string, string[]>()
  const after = new Map<string, string[]>()
  for (const route of routes) {
    for (const [index, id] of route.slice(1).entries()) {
      const from = route[index] ?? id
      before.set(id, [...(before.get(id) ?? []), from])
      after.set(from, [...(after.get(from) ?? []), id])
    }
  }
  return { before, after }
}

/** Each to the mean place of those that it is connected with on one side; those without stay where they are. */
function reorder(layers: string[][], { before, after }: Neighbours, isForward: boolean): void {
  const sides = isForward ? before : after
  const order = isForward ? layers.keys() : [...layers.keys()].toReversed()
  const placeOf = new Map(layers.flatMap((layer) => layer.map((id, index) => [id, index] as const)))
  for (const rank of order) {
    const layer = layers[rank] ?? []
    const wish = new Map(layer.map((id, index) => [id, mean(sides.get(id), placeOf) ?? index]))
    layer.sort((one, other) => (wish.get(one) ?? 0) - (wish.get(other) ?? 0))
    for (const [index, id] of layer.entries()) placeOf.set(id, index)
  }
}

function middlesOf(
  layers: readonly (readonly string[])[],
  { before, after }: Neighbours,
  heightOf: (id: string) => number,
  across: number,
): ReadonlyMap<string, number> {
  const middles = new Map<string, number>()
  for (const layer of layers) settle(layer, () => 0)
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const sides = sweep % 2 === 0 ? after : before
    for (const layer of sweep % 2 === 0 ? layers.toReversed() : layers) {
      settle(layer, (id) => mean(sides.get(id), middles) ?? middles.get(id) ?? 0)
    }
  }
  const tops = [...middles].map(([id, y]) => y - heightOf(id) / 2)
  const top = tops.length === 0 ? 0 : Math.min(...tops)
  return new Map([...middles].map(([id, y]) => [id, y - top]))

  /** As near to what each wants as their order and heights allow. */
  function settle(layer: readonly string[], wants: (id: string) => number): void {
    let offset = 0
    const offsets = layer.map((id, index) => {
      const above = layer[index - 1]
      if (above !== undefined) offset += (heightOf(above) + heightOf(id)) / 2 + across
      return offset
    })
    const rising = isotonic(layer.map((id, index) => wants(id) - (offsets[index] ?? 0)))
    for (const [index, id] of layer.entries()) middles.set(id, (rising[index] ?? 0) + (offsets[index] ?? 0))
  }
}

/** The nearest numbers that never fall. */
export function isotonic(wanted: readonly number[]): readonly number[] {
  const pools: { sum: number; count: number }[] = []
  for (const value of wanted) {
    let pool = { sum: value, count: 1 }
    for (let last = pools.at(-1); last !== undefined && last.sum / last.count > pool.sum / pool.count;) {
      pools.pop()
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count }
      last = pools.at(-1)
    }
    pools.push(pool)
  }
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count))
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

function mean(ids: readonly string[] | undefined, at: ReadonlyMap<string, number>): number | undefined {
  const values = (ids ?? []).flatMap((id) => at.get(id) ?? [])
  return values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length
}

/** A line that leaves and arrives level, and bends in between. */
export function curve(points: readonly Point[]): string {
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
