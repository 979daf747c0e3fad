/** Orders the nodes of each layer, and places them close to their neighbours. Pure. */

export const sweepCount = 8

interface Neighbours {
  readonly before: ReadonlyMap<string, readonly string[]>
  readonly after: ReadonlyMap<string, readonly string[]>
}

export function neighboursOf(routes: readonly (readonly string[])[]): Neighbours {
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

/** Moves each node to the mean position of its neighbours on one side; nodes without neighbours stay. */
export function reorderLayers(layers: string[][], { before, after }: Neighbours, isForward: boolean): void {
  const sides = isForward ? before : after
  const order = isForward ? layers.keys() : [...layers.keys()].toReversed()
  const placeOf = new Map(layers.flatMap((layer) => layer.map((id, index) => [id, index] as const)))
  for (const rank of order) {
    const layer = layers[rank] ?? []
    const targetOrder = new Map(layer.map((id, index) => [id, mean(sides.get(id), placeOf) ?? index]))
    layer.sort((one, other) => (targetOrder.get(one) ?? 0) - (targetOrder.get(other) ?? 0))
    for (const [index, id] of layer.entries()) placeOf.set(id, index)
  }
}

export function centerPositions(
  layers: readonly (readonly string[])[],
  { before, after }: Neighbours,
  heightOf: (id: string) => number,
  across: number,
): ReadonlyMap<string, number> {
  const middles = new Map<string, number>()
  for (const layer of layers) settle(layer, () => 0)
  for (let sweep = 0; sweep < sweepCount; sweep += 1) {
    const sides = sweep % 2 === 0 ? after : before
    for (const layer of sweep % 2 === 0 ? layers.toReversed() : layers) {
      settle(layer, (id) => mean(sides.get(id), middles) ?? middles.get(id) ?? 0)
    }
  }
  const tops = [...middles].map(([id, y]) => y - heightOf(id) / 2)
  const top = tops.length === 0 ? 0 : Math.min(...tops)
  return new Map([...middles].map(([id, y]) => [id, y - top]))

  /** As close to each desired position as order and heights allow. */
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

/** Isotonic regression: the closest non-decreasing sequence. */
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

function mean(ids: readonly string[] | undefined, at: ReadonlyMap<string, number>): number | undefined {
  const values = (ids ?? []).flatMap((id) => at.get(id) ?? [])
  return values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length
}
