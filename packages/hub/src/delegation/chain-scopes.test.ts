/** Delegated permissions: whatever the scopes, each hop can only narrow them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { permissionsOf, operationScopeNames } from '../auth/scopes.ts'
import { isWithinScopes, narrowScopes, onwardScopes, chainScopesOf } from './chain-scopes.ts'

const hub = 'https://b.test'
const agents = ['one', 'two', 'three']
const word = fc.oneof(
  fc.constantFrom('agent:*', ...agents.map((name) => `agent:${name}`)),
  fc.constantFrom(...agents.flatMap((name) => [`skill:${name}/read`, `skill:${name}/write`])),
  fc.constantFrom(...operationScopeNames.map((name) => `operation:${name}`)),
  fc.constantFrom('files:read', 'files:write', 'openid'),
)
const words = fc.array(word, { maxLength: 6 })
const hubs = fc.constantFrom('https://a.test', hub, 'https://c.test')

/** What several hubs made of it, one after the other. */
const chain = fc
  .array(fc.tuple(hubs, words), { minLength: 1, maxLength: 5 })
  .map(([first, ...others]) =>
    others.reduce(
      (scopes, [at, held]) => onwardScopes(scopes, held, at),
      chainScopesOf(first?.[1] ?? [], first?.[0] ?? hub),
    ),
  )

describe('the rights of handed-on work', () => {
  it('are within those of each earlier hub, whichever agent delegates', () => {
    fc.assert(
      fc.property(chain, words, hubs, (before, held, at) => {
        assert.ok(isWithinScopes(onwardScopes(before, held, at), before))
      }),
    )
  })

  it('permit a caller nothing that it may not by itself', () => {
    fc.assert(
      fc.property(chain, words, (before, held) => {
        const left = narrowScopes(held, before, hub)
        if (left === undefined) return
        const [mine, now] = [permissionsOf(held), permissionsOf(left)]
        for (const agent of agents) {
          if (now.canUse(agent)) assert.ok(mine.canUse(agent), agent)
          for (const skill of ['read', 'write']) {
            const may = (grants: typeof now): boolean =>
              grants.canUse(agent) && (grants.skillsOf(agent)?.includes(skill) ?? true)
            if (may(now)) assert.ok(may(mine), `${agent}/${skill}`)
          }
        }
        for (const operation of ['SendMessage', 'GetTask', 'CancelTask'] as const)
          if (now.canPerform(operation)) assert.ok(mine.canPerform(operation), operation)
        for (const other of left.filter((one) => !/^(agent|skill|operation):/.test(one)))
          assert.ok(held.includes(other), other)
      }),
    )
  })

  it('permit nothing that the chain does not, where it has been here before', () => {
    fc.assert(
      fc.property(words, words, (first, held) => {
        const before = chainScopesOf(first, hub)
        const left = narrowScopes(held, before, hub)
        if (left === undefined) return
        for (const agent of agents)
          if (permissionsOf(left).canUse(agent)) assert.ok(permissionsOf(first).canUse(agent), agent)
      }),
    )
  })

  it('mean the agents of one hub only, and the same operations everywhere', () => {
    const before = chainScopesOf(['agent:one', 'operation:send', 'files:read'], 'https://a.test')
    assert.deepEqual(narrowScopes(['agent:two', 'files:read', 'files:write'], before, hub), [
      'agent:two',
      'operation:send',
      'files:read',
    ])
    assert.equal(narrowScopes(['agent:two', 'operation:read'], before, hub), undefined)
    assert.equal(isWithinScopes(chainScopesOf(['agent:*', 'operation:send'], 'https://a.test'), before), false)
    assert.equal(isWithinScopes(chainScopesOf(['agent:one'], 'https://a.test'), before), false)
  })
})
