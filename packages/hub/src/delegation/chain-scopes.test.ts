/** Rights that go along with work: whatever the words, they only ever become fewer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { grantsOf, operationWords } from '../auth/scopes.ts'
import { isWithin, narrowed, scopesOnward, wordsOf } from './chain-scopes.ts'

const hub = 'https://b.test'
const agents = ['one', 'two', 'three']
const word = fc.oneof(
  fc.constantFrom('agent:*', ...agents.map((name) => `agent:${name}`)),
  fc.constantFrom(...agents.flatMap((name) => [`skill:${name}/read`, `skill:${name}/write`])),
  fc.constantFrom(...operationWords.map((name) => `operation:${name}`)),
  fc.constantFrom('files:read', 'files:write', 'openid'),
)
const words = fc.array(word, { maxLength: 6 })
const hubs = fc.constantFrom('https://a.test', hub, 'https://c.test')

/** What several hubs made of it, one after the other. */
const chain = fc
  .array(fc.tuple(hubs, words), { minLength: 1, maxLength: 5 })
  .map(([first, ...others]) =>
    others.reduce((scopes, [at, held]) => scopesOnward(scopes, held, at), wordsOf(first?.[1] ?? [], first?.[0] ?? hub)),
  )

describe('the rights of handed-on work', () => {
  it('are within those of each hub before, whoever hands on', () => {
    fc.assert(
      fc.property(chain, words, hubs, (before, held, at) => {
        assert.ok(isWithin(scopesOnward(before, held, at), before))
      }),
    )
  })

  it('permit a caller nothing that it may not by itself', () => {
    fc.assert(
      fc.property(chain, words, (before, held) => {
        const left = narrowed(held, before, hub)
        if (left === undefined) return
        const [mine, now] = [grantsOf(held), grantsOf(left)]
        for (const agent of agents) {
          if (now.mayUse(agent)) assert.ok(mine.mayUse(agent), agent)
          for (const skill of ['read', 'write']) {
            const may = (grants: typeof now): boolean =>
              grants.mayUse(agent) && (grants.skillsOf(agent)?.includes(skill) ?? true)
            if (may(now)) assert.ok(may(mine), `${agent}/${skill}`)
          }
        }
        for (const operation of ['SendMessage', 'GetTask', 'CancelTask'] as const)
          if (now.mayDo(operation)) assert.ok(mine.mayDo(operation), operation)
        for (const other of left.filter((one) => !/^(agent|skill|operation):/.test(one)))
          assert.ok(held.includes(other), other)
      }),
    )
  })

  it('permit nothing that the chain does not, where it has been here before', () => {
    fc.assert(
      fc.property(words, words, (first, held) => {
        const before = wordsOf(first, hub)
        const left = narrowed(held, before, hub)
        if (left === undefined) return
        for (const agent of agents) if (grantsOf(left).mayUse(agent)) assert.ok(grantsOf(first).mayUse(agent), agent)
      }),
    )
  })

  it('mean the agents of one hub only, and the same operations everywhere', () => {
    const before = wordsOf(['agent:one', 'operation:send', 'files:read'], 'https://a.test')
    assert.deepEqual(narrowed(['agent:two', 'files:read', 'files:write'], before, hub), [
      'agent:two',
      'operation:send',
      'files:read',
    ])
    assert.equal(narrowed(['agent:two', 'operation:read'], before, hub), undefined)
    assert.equal(isWithin(wordsOf(['agent:*', 'operation:send'], 'https://a.test'), before), false)
    assert.equal(isWithin(wordsOf(['agent:one'], 'https://a.test'), before), false)
  })
})
