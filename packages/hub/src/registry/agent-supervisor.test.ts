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

  it('logs that it will be retried only if it will', async () => {
    const lines: string[] = []
    const kind: AgentKind = {
      kind: 'broken',
      schema: z.unknown(),
      open: () => Promise.reject(new Error('no such file')),
    }
    const services = testAgentServices()
    const log = { ...services.log, error: (message: string) => void lines.push(message) }
    const options = { kind, entry: {}, services, log, onChange() {} }
    const retried = superviseAgent(options)
    await retried.firstAttempt
    const stopped = superviseAgent(options)
    stopped.stopRetrying()
    await stopped.firstAttempt
    assert.equal(stopped.retry?.state, 'stopped')
    assert.deepEqual(lines, [
      'the agent could not be opened; it will be retried',
      'the agent could not be opened; its retries are stopped',
    ])
    await Promise.all([retried.close(), stopped.close()])
  })

  it('logs an error of its attempts once until it changes, and how many attempts failed', async () => {
    const lines: unknown[] = []
    const failures = ['no key', 'no key', 'no key', 'no licence']
    const kind: AgentKind = {
      kind: 'broken',
      schema: z.unknown(),
      async open() {
        const message = failures.shift()
        if (message !== undefined) throw new Error(message)
        return { agent: () => 'hi' }
      },
    }
    const services = testAgentServices()
    const record = (message: string, { cause, failedAttempts }: { cause?: Error; failedAttempts?: number }) =>
      void lines.push([message, cause?.message, failedAttempts])
    const log = { ...services.log, error: record, info: record } as typeof services.log
    const supervisor = superviseAgent({ kind, entry: {}, services, log, onChange() {} })
    await supervisor.firstAttempt
    for (let attempt = 2; attempt <= 5; attempt += 1) await supervisor.retryNow()
    assert.deepEqual(lines, [
      ['the agent could not be opened; it will be retried', 'no key', undefined],
      ['the agent could not be opened; it will be retried', 'no licence', 3],
      ['the agent opened', undefined, 4],
    ])
    await supervisor.close()
  })
})
