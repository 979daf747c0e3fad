import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { curvePath, layoutGraph, type GraphEdge } from './graph-layout.ts'
import { isotonic } from './layer-positions.ts'

const sizes = { width: 100, height: 40, along: 60, across: 20 }
const arrows = (...pairs: readonly string[]): readonly GraphEdge[] =>
  pairs.map((pair) => ({ from: pair[0] ?? '', to: pair[1] ?? '' }))
const idsOf = (all: readonly GraphEdge[]): readonly string[] => [...new Set(all.flatMap(({ from, to }) => [from, to]))]

describe('boxes in layers', () => {
  it('are in the layer after their predecessors', () => {
    const { positions, width } = layoutGraph(['a', 'b', 'c', 'd'], arrows('ab', 'bc', 'ac', 'cd'), sizes)
    assert.deepEqual(
      [...positions].map(([id, { x }]) => [id, x / 160]),
      [
        ['a', 0],
        ['b', 1],
        ['c', 2],
        ['d', 3],
      ],
    )
    assert.equal(width, 580)
  })

  it('are centred over their children in a tree', () => {
    const { positions, height } = layoutGraph(['a', 'b', 'c', 'd'], arrows('ab', 'ac', 'ad'), sizes)
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((id) => positions.get(id)?.y),
      [60, 0, 60, 120],
    )
    assert.equal(height, 160)
  })

  it('never overlap and keep their order', () => {
    const tree: GraphEdge[] = []
    for (let n = 1; n < 200; n += 1) tree.push({ from: `${Math.floor((n - 1) / 3)}`, to: `${n}` })
    const { positions } = layoutGraph(idsOf(tree), tree, sizes)
    const layers = Map.groupBy(positions.values(), ({ x }) => x)
    for (const layer of layers.values()) {
      const ys = layer.map(({ y }) => y).toSorted((one, other) => one - other)
      for (const [index, y] of ys.entries()) {
        assert.ok(index === 0 || y - (ys[index - 1] ?? 0) >= 59.99, `${y}`)
        assert.ok(y >= -0.01)
      }
    }
  })

  it('are ordered to avoid crossings', () => {
    // Given in the order that would cross: a leads to d, b to c.
    const { positions } = layoutGraph(['a', 'b', 'c', 'd'], arrows('ad', 'bc'), sizes)
    const y = (id: string): number => positions.get(id)?.y ?? 0
    assert.equal(Math.sign(y('a') - y('b')), Math.sign(y('d') - y('c')))
  })

  it('may form a cycle or point to themselves', () => {
    const { positions, lines } = layoutGraph(['a', 'b'], arrows('ab', 'ba', 'aa'), sizes)
    assert.deepEqual([positions.get('a')?.x, positions.get('b')?.x], [0, 160])
    assert.deepEqual(
      lines.map((line) => line.map(({ x }) => x)),
      [[100, 160], [160, 100], []],
    )
  })

  it('are not crossed by arrows over several layers', () => {
    const { positions, lines } = layoutGraph(['a', 'b', 'c'], arrows('ab', 'bc', 'ac'), sizes)
    const through = lines[2]?.[1]
    const box = positions.get('b')
    assert.ok(through !== undefined && box !== undefined)
    assert.equal(lines[2]?.length, 4)
    assert.ok(through.y < box.y || through.y > box.y + sizes.height, 'it goes through the box')
  })

  it('are empty for an empty graph', () => {
    assert.deepEqual(layoutGraph([], [], sizes), { positions: new Map(), lines: [], width: 0, height: 0 })
  })
})

describe('the parts of a layout', () => {
  it('computes the closest non-decreasing sequence', () => {
    assert.deepEqual(isotonic([1, 2, 3]), [1, 2, 3])
    assert.deepEqual(isotonic([3, 1, 2]), [2, 2, 2])
    assert.deepEqual(isotonic([1, 5, 3, 9]), [1, 4, 4, 9])
  })

  it('draws lines with horizontal ends', () => {
    assert.equal(
      curvePath([
        { x: 0, y: 0 },
        { x: 10, y: 20 },
      ]),
      'M0 0C5 0 5 20 10 20',
    )
    assert.equal(
      curvePath([
        { x: 0, y: 5 },
        { x: 10, y: 5 },
      ]),
      'M0 5H10',
    )
    assert.equal(curvePath([]), '')
  })
})
