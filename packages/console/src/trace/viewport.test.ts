import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fitViewport, panViewport, initialViewport, revealBox, zoomViewport } from './viewport.ts'

const frame = { width: 648, height: 448 }

describe('the viewport', () => {
  it('fits the drawing at first, centred and not enlarged', () => {
    assert.deepEqual(fitViewport({ width: 1_200, height: 100 }, frame), { x: 24, y: 199, scale: 0.5 })
    assert.deepEqual(fitViewport({ width: 100, height: 48 }, frame), { x: 274, y: 200, scale: 1 })
    assert.equal(fitViewport({ width: 1e6, height: 1 }, frame).scale, 0.1)
  })

  it('starts with the first box if the whole would be too small to read', () => {
    const first = { y: 100, height: 40 }
    assert.deepEqual(
      initialViewport({ width: 600, height: 400 }, frame, first),
      fitViewport({ width: 600, height: 400 }, frame),
    )
    assert.deepEqual(initialViewport({ width: 6_000, height: 400 }, frame, first), { x: 24, y: 152, scale: 0.6 })
  })

  it('zooms around the pointer', () => {
    const view = zoomViewport({ x: 0, y: 0, scale: 1 }, 2, { x: 100, y: 50 })
    assert.deepEqual(view, { x: -100, y: -50, scale: 2 })
    assert.deepEqual(zoomViewport(view, 2, { x: 0, y: 0 }), view)
    assert.deepEqual(zoomViewport(view, 0.5, { x: 100, y: 50 }), { x: 0, y: 0, scale: 1 })
  })

  it('pans by the minimum that shows a box', () => {
    assert.deepEqual(panViewport({ x: 1, y: 2, scale: 1 }, 10, -10), { x: 11, y: -8, scale: 1 })
    const view = { x: 0, y: 0, scale: 1 }
    assert.deepEqual(revealBox(view, { x: 100, y: 100, width: 50, height: 50 }, frame), view)
    assert.deepEqual(revealBox(view, { x: 700, y: -100, width: 50, height: 50 }, frame), { x: -126, y: 124, scale: 1 })
  })
})
