import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { scheduleWrite } from './node-adapter.ts'

describe('large writes', () => {
  it('take turns, so that the event loop runs between them', async () => {
    const readers = 40
    const slices = 30
    let turns = 0
    let written = 0
    let mostInOneTurn = 0
    let isOver = false
    const count = async (): Promise<void> => {
      while (!isOver) {
        const before = written
        await nextTurn()
        turns += 1
        mostInOneTurn = Math.max(mostInOneTurn, written - before)
      }
    }
    const counting = count()
    await Promise.all(
      Array.from({ length: readers }, async () => {
        for (let slice = 0; slice < slices; slice += 1) {
          await scheduleWrite(65_536)
          written += 65_536
        }
      }),
    )
    isOver = true
    await counting
    assert.equal(written, readers * slices * 65_536)
    // Two turns of 128 kB may fall between two checks.
    assert.ok(mostInOneTurn <= 2 * 131_072, `${mostInOneTurn} bytes`)
    assert.ok(turns >= 300, `${turns} turns`)
  })

  it('do not delay small writes', async () => {
    await nextTurn()
    for (let count = 0; count < 1_000; count += 1) assert.equal(scheduleWrite(1_000), undefined)
  })

  it('continue at once while the turn has budget', async () => {
    await nextTurn()
    await nextTurn()
    assert.equal(scheduleWrite(20_000), undefined)
  })
})
