import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCheckpointWriter } from './checkpoint-writer.ts'

describe('checkpoints of something that goes on changing', () => {
  it('are one at a time, and those that wait are one', async () => {
    const written: unknown[] = []
    const gates: PromiseWithResolvers<void>[] = []
    const state = { step: 1 }
    const save = createCheckpointWriter((data) => {
      written.push(data)
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      return gate.promise
    }, state)
    const first = save()
    await Promise.resolve()
    state.step = 2
    const others = [save(), save()]
    state.step = 3
    assert.deepEqual(written, [{ step: 1 }])
    gates[0]?.resolve()
    await first
    assert.deepEqual(written, [{ step: 1 }, { step: 3 }])
    gates[1]?.resolve()
    await Promise.all(others)
  })

  it('reject for waiting callers when they fail, and not for the next one', async () => {
    let count = 0
    const save = createCheckpointWriter(async () => {
      count += 1
      if (count === 1) throw new Error('the disk is full')
    }, {})
    await assert.rejects(save(), /full/)
    await save()
  })
})
