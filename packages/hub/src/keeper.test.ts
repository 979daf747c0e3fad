import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import { z } from 'zod'
import type { AgentKind, KindParts } from './agents/kind.ts'
import { testParts } from './agents/testing/kind-parts.ts'
import { keepAgent } from './keeper.ts'

describe('an agent that is kept open', () => {
  it('is looked at again when it says that it has changed, also while somebody looks', async () => {
    let lent: KindParts | undefined
    const looks = [1, 2, 3].map(() => ({ begun: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() }))
    let count = 0
    const kind: AgentKind = {
      kind: 'changing',
      schema: z.unknown(),
      open(_, parts) {
        lent = parts
        return {
          agent: () => 'hi',
          async look() {
            const { begun, end } = looks[count] ?? assert.fail('it was looked at too often')
            count += 1
            const description = `look ${count}`
            begun.resolve()
            await end.promise
            return { description }
          },
        }
      },
    }
    const parts = testParts()
    const keeper = keepAgent({ kind, entry: {}, parts, log: parts.log, changed() {} })
    const [first, second, third] = looks
    await first?.begun.promise
    // What is under way has seen what was before.
    lent?.lookAgain?.()
    first?.end.resolve()
    await second?.begun.promise
    assert.equal(keeper.looked?.description, 'look 1')
    second?.end.resolve()
    await keeper.look()
    assert.equal(keeper.looked?.description, 'look 2')
    lent?.lookAgain?.()
    await third?.begun.promise
    third?.end.resolve()
    await keeper.close()
    lent?.lookAgain?.()
    await nextTurnOfTheLoop()
    assert.equal(count, 3)
  })
})
