/** Chains of agents that call agents: no chain is wider than the one that it was made from. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { A2AError } from '@parley/a2a'
import { checkHop, firstChain, nextChain, chainAgentId, findWidening } from './chain.ts'
import { onwardScopes } from './chain-scopes.ts'
import type { Chain, HopRequest } from './chain.ts'

const hub = 'https://a.test'
const now = 1_000_000

const begin = (tasks: number, deadlineAt?: number): Chain =>
  firstChain(
    {
      task: {
        id: 'root',
        contextId: 'c',
        state: 'TASK_STATE_WORKING',
        ...(deadlineAt !== undefined ? { deadlineAt } : {}),
      },
      caller: { id: 'me', scopes: ['agent:*'] },
    },
    { subject: 'someone', hub, tasks },
  )

const order = (given: Partial<HopRequest>): HopRequest => ({
  from: chainAgentId(hub, 'a'),
  to: chainAgentId(hub, 'b'),
  taskId: 't',
  maxDepth: 8,
  now,
  ...given,
})

function reasonOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (reason) {
    assert.ok(reason instanceof A2AError)
    assert.equal(reason.code, 'UNSUPPORTED_OPERATION')
    return reason.details.reason
  }
}

const step = fc.record({
  to: fc.integer({ min: 0, max: 12 }),
  deadlineAt: fc.option(fc.integer({ min: now + 1, max: now + 100 }), { nil: undefined }),
  scopes: fc.subarray(['agent:*', 'agent:a', 'files:read', 'operation:send']),
})

describe('a chain', () => {
  it('only ever becomes narrower, ends within its depth, and meets no agent twice', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 20 }),
        (steps, maxDepth, tasks) => {
          let chain = begin(tasks)
          let at = chainAgentId(hub, 'first')
          for (const [index, { to, deadlineAt, scopes }] of steps.entries()) {
            const target = chainAgentId(hub, `agent-${to}`)
            const before = chain
            const hop = order({ from: at, to: target, taskId: `t${index}`, maxDepth, deadlineAt })
            const wanted = { ...before, scopes: onwardScopes(before.scopes, scopes, hub) }
            if (reasonOf(() => nextChain(wanted, hop)) !== undefined) continue
            chain = nextChain(wanted, hop)
            assert.equal(findWidening(chain, before, at), undefined)
            assert.equal(chain.visited.length, before.visited.length + 1)
            assert.equal(new Set([...chain.visited, target]).size, chain.visited.length + 1)
            assert.ok(chain.visited.length <= maxDepth)
            assert.ok(chain.tasks >= 0)
            assert.ok((chain.deadlineAt ?? Infinity) <= (before.deadlineAt ?? Infinity))
            at = target
          }
          // Exactly the permitted number of tasks is opened in a row.
          assert.ok(chain.visited.length <= Math.min(maxDepth, tasks))
        },
      ),
    )
  })

  it('is refused for a circle, for its depth, for its budget and for its time, each by name', () => {
    const chain = nextChain(begin(5, now + 10), order({}))
    const from = chainAgentId(hub, 'b')
    assert.equal(
      reasonOf(() => nextChain(chain, order({ from, to: chainAgentId(hub, 'a') }))),
      'DELEGATION_LOOP',
    )
    assert.equal(
      reasonOf(() => nextChain(chain, order({ from, to: from }))),
      'DELEGATION_LOOP',
    )
    const onward = order({ from, to: chainAgentId(hub, 'c') })
    assert.equal(
      reasonOf(() => nextChain(chain, onward)),
      undefined,
    )
    assert.equal(
      reasonOf(() => nextChain(chain, { ...onward, maxDepth: 1 })),
      'DELEGATION_DEPTH',
    )
    assert.equal(
      reasonOf(() => nextChain({ ...chain, tasks: 0 }, onward)),
      'DELEGATION_BUDGET',
    )
    assert.equal(
      reasonOf(() => nextChain(chain, { ...onward, now: now + 10 })),
      'DELEGATION_DEADLINE',
    )
    assert.equal(
      reasonOf(() => nextChain(chain, { ...onward, deadlineAt: now })),
      'DELEGATION_DEADLINE',
    )
    // The same agent of another hub is another agent.
    assert.equal(
      reasonOf(() => nextChain(chain, { ...onward, to: chainAgentId('https://b.test', 'a') })),
      undefined,
    )
  })

  it('made by another hub is checked by the same rules', () => {
    const chain = nextChain(begin(5), order({}))
    assert.equal(
      reasonOf(() => checkHop(chain, { to: chainAgentId(hub, 'a'), maxDepth: 8, now })),
      'DELEGATION_LOOP',
    )
    assert.equal(
      reasonOf(() => checkHop(chain, { to: chainAgentId(hub, 'c'), maxDepth: 8, now })),
      undefined,
    )
  })

  it('widened at any hop is detected', () => {
    const outer = nextChain(begin(5, now + 10), order({}))
    const inner = nextChain(outer, order({ from: chainAgentId(hub, 'b'), to: chainAgentId(hub, 'c'), taskId: 't2' }))
    const wider = (change: Partial<Chain>): string | undefined =>
      findWidening({ ...inner, ...change }, outer, chainAgentId(hub, 'b'))
    assert.equal(wider({}), undefined)
    assert.match(wider({ tasks: 5 }) ?? '', /more tasks/)
    assert.match(wider({ deadlineAt: now + 11 }) ?? '', /later deadline/)
    const { deadlineAt: _, ...endless } = inner
    assert.match(findWidening(endless, outer, chainAgentId(hub, 'b')) ?? '', /later deadline/)
    assert.match(wider({ visited: [chainAgentId(hub, 'b')] }) ?? '', /differs/)
    assert.match(wider({ visited: [chainAgentId(hub, 'a'), chainAgentId(hub, 'x')] }) ?? '', /differs/)
    assert.match(wider({ root: 'another' }) ?? '', /another request/)
    assert.match(wider({ scopes: {} }) ?? '', /wider scopes/)
  })
})
