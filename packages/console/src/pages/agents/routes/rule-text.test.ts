import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeConditions, exampleRoutesYaml, sortRoutes, routeName, weightShares } from './rule-text.ts'

const rule = { route: 0, from: ['desk'], to: [{ agent: 'eyes', weight: 1 }], priority: 0, fallback: [] }

describe('a rule as text', () => {
  it('has all its conditions', () => {
    assert.deepEqual(
      describeConditions({
        text: ['invoice', 'bill'],
        regex: '^\\d+$',
        skill: ['say'],
        metadata: { 'order.kind': ['a', 1], vip: true },
        caller: ['ann', 'team-*'],
        parts: ['image/*'],
      }),
      [
        'the text contains “invoice” or “bill”',
        'the text matches /^\\d+$/',
        'the skill is “say”',
        'the metadata order.kind is “a” or 1',
        'the metadata vip is true',
        'the caller is “ann” or “team-*”',
        'it has a part “image/*”',
      ],
    )
    assert.deepEqual(describeConditions(undefined), [])
  })

  it('has the share of each target', () => {
    const to = [
      { agent: 'gpt', weight: 9 },
      { agent: 'next', weight: 1 },
    ]
    assert.deepEqual(
      weightShares(to).map(({ agent, percent }) => [agent, percent]),
      [
        ['gpt', 90],
        ['next', 10],
      ],
    )
  })

  it('is in the order of the hub, and has a name', () => {
    const routes = [rule, { ...rule, route: 1, priority: 10, name: 'first' }, { ...rule, route: 2 }]
    assert.deepEqual(sortRoutes(routes).map(routeName), ['first', 'Rule 1', 'Rule 3'])
  })

  it('has examples with existing agents', () => {
    for (const agents of [
      ['a', 'b'],
      ['a', 'b', 'c', 'd'],
    ]) {
      const named = [...(exampleRoutesYaml(agents) ?? '').matchAll(/(?:from|to|agent): (\w+)|fallback: \[(\w+)\]/g)]
      assert.equal(named.length, 8)
      for (const [, one, other] of named) assert.ok(agents.includes(one ?? other ?? ''), one)
    }
    assert.equal(exampleRoutesYaml(['alone']), undefined)
  })
})
