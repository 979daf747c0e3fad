import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { heavyStep } from './heavy-step.ts'

describe('steps of heavy work', () => {
  it('are done in order, and never two in one turn of the event loop', async () => {
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const turns: [step: number, turn: number][] = []
    await Promise.all(
      Array.from({ length: 10 }, async (_, step) => {
        await heavyStep()
        turns.push([step, turn])
      }),
    )
    isOver = true
    assert.deepEqual(
      turns.map(([step]) => step),
      Array.from({ length: 10 }, (_, step) => step),
    )
    assert.equal(new Set(turns.map(([, at]) => at)).size, 10)
  })

  it('begin again after a while without any', async () => {
    await heavyStep()
    await heavyStep()
  })
})
