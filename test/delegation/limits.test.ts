/** Limits of delegation for any call tree: no cycle, depth and budget are kept, and every allowed call is made. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { A2AError } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import type { AgentTools } from '@parley/hub'
import { chainFromProvenance } from '../../packages/hub/src/delegation/chain.ts'
import { createTestDelegation } from '../../packages/hub/src/delegation/testing/test-delegation.ts'
import { createTestHub } from '../../packages/hub/src/delegation/testing/test-hub.ts'

/** The calls, one after the other. */
interface Plan {
  readonly agent: string
  readonly then: readonly Plan[]
}
interface Limits {
  readonly maxDepth: number
  readonly tasks: number
}

const names = ['a', 'b', 'c', 'd']
const hub = 'https://hub.test'
const numRuns = process.env['PARLEY_FULL'] === undefined ? 100 : 1_000

/** Five levels: more than the deepest limit. */
const plansOf = (depth: number): fc.Arbitrary<readonly Plan[]> =>
  fc.array(
    fc.record({
      agent: fc.constantFrom(...names),
      then: depth === 0 ? fc.constant<readonly Plan[]>([]) : plansOf(depth - 1),
    }),
    { maxLength: 3 },
  )
const plans = plansOf(5)
const limits = fc.record({ maxDepth: fc.integer({ min: 1, max: 4 }), tasks: fc.integer({ min: 0, max: 8 }) })

interface Opened {
  readonly agent: string
  readonly visited: readonly string[]
}

/** The calls that were made, and why the others were not. */
interface Walk {
  readonly opened: Opened[]
  readonly refused: string[]
}

async function open(t: TestContext, { maxDepth, tasks }: Limits, isAtOnce: boolean) {
  const walk: Walk = { opened: [], refused: [] }
  const walker = (name: string) => ({
    resume: 'rerun' as const,
    async *run(turn: Turn, { delegate }: AgentTools): AsyncGenerator<Report, void, undefined> {
      walk.opened.push({ agent: name, visited: chainFromProvenance(turn.provenance)?.visited ?? [] })
      const plan = JSON.parse(turn.text) as readonly Plan[]
      const ask = async ({ agent, then }: Plan): Promise<void> => {
        const asked = delegate({ agent, message: JSON.stringify(then) })
        try {
          for (let step = await asked.next(); step.done !== true; step = await asked.next());
        } catch (reason) {
          assert.ok(reason instanceof A2AError)
          walk.refused.push(reason.details.reason ?? reason.code)
        }
      }
      if (isAtOnce) await Promise.all(plan.map(ask))
      else for (const one of plan) await ask(one)
      yield 'done'
    },
  })
  const delegation = await createTestDelegation({ settings: { issuer: hub, maxDepth, tasks } })
  const agents = Object.fromEntries(names.map((name) => [name, walker(name)]))
  return { walk, hub: await createTestHub(t, agents, { delegation }) }
}

/** The same, computed from the rules. */
function expected(plan: readonly Plan[], { maxDepth, tasks }: Limits): Walk {
  const walk: Walk = { opened: [{ agent: 'a', visited: [] }], refused: [] }
  let count = 0
  const go = (at: readonly string[], all: readonly Plan[], left: number): void => {
    for (const { agent, then } of all) {
      if (at.includes(agent)) walk.refused.push('DELEGATION_LOOP')
      else if (at.length > maxDepth) walk.refused.push('DELEGATION_DEPTH')
      else if (left < 1 || (count += 1) > tasks) walk.refused.push('DELEGATION_BUDGET')
      else {
        walk.opened.push({ agent, visited: at.map((name) => `${hub}#${name}`) })
        go([...at, agent], then, Math.min(left - 1, tasks - count))
      }
    }
  }
  go(['a'], plan, tasks)
  return walk
}

describe('agents that call agents', () => {
  it('make exactly the allowed calls, one after the other', async (t) => {
    await fc.assert(
      fc.asyncProperty(plans, limits, async (plan, given) => {
        const { walk, hub: running } = await open(t, given, false)
        const task = await running.send('a', JSON.stringify(plan))
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
        assert.deepEqual(walk, expected(plan, given))
        await running.shutDown()
      }),
      { numRuns },
    )
  })

  it('open no more tasks than allowed when they all call at once', async (t) => {
    await fc.assert(
      fc.asyncProperty(plans, limits, async (plan, given) => {
        const { walk, hub: running } = await open(t, given, true)
        await running.send('a', JSON.stringify(plan))
        const children = walk.opened.slice(1)
        assert.ok(children.length <= given.tasks, `${children.length} of ${given.tasks}`)
        for (const { agent, visited } of walk.opened) {
          assert.ok(visited.length <= given.maxDepth)
          assert.equal(new Set([...visited, `${hub}#${agent}`]).size, visited.length + 1)
        }
        // If no call was refused by the budget, every allowed call was made.
        if (!walk.refused.includes('DELEGATION_BUDGET')) {
          const wanted = expected(plan, { ...given, tasks: Infinity })
          assert.equal(children.length, wanted.opened.length - 1)
        }
        await running.shutDown()
      }),
      { numRuns },
    )
  })
})
