import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import { z } from 'zod'
import type { AgentKind, AgentServices } from '../agents/kind.ts'
import { testAgentServices } from '../agents/testing/test-agent-services.ts'
import { superviseAgent } from './agent-supervisor.ts'

describe('an agent that is kept open', () => {
  it('is refreshed when it reports a change, also during a refresh', async () => {
    let lent: AgentServices | undefined
    const looks = [1, 2, 3].map(() => ({ begun: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() }))
    let count = 0
    const kind: AgentKind = {
      kind: 'changing',
      schema: z.unknown(),
      open(_, parts) {
        lent = parts
        return {
          agent: () => 'hi',
          async fetchCard() {
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
    const parts = testAgentServices()
    const supervisor = superviseAgent({ kind, entry: {}, services: parts, log: parts.log, onChange() {} })
    const [first, second, third] = looks
    await first?.begun.promise
    // A refresh in progress has seen the previous state.
    lent?.refreshCard?.()
    first?.end.resolve()
    await second?.begun.promise
    assert.equal(supervisor.liveCard?.description, 'look 1')
    second?.end.resolve()
    await supervisor.refreshCard()
    assert.equal(supervisor.liveCard?.description, 'look 2')
    lent?.refreshCard?.()
    await third?.begun.promise
    third?.end.resolve()
    await supervisor.close()
    lent?.refreshCard?.()
    await nextTurnOfTheLoop()
    assert.equal(count, 3)
  })
})
