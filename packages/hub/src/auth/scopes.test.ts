import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Operation } from '@parley/a2a/internal'
import { coversScopes, permissionsOf, operationScopeNames, validateScope } from './scopes.ts'

describe('scopes', () => {
  it('permit an agent with all its skills, or only those that are named [B-154]', () => {
    const grants = permissionsOf(['agent:gpt', 'skill:analyst/ask', 'skill:analyst/sum', 'pay'])
    assert.deepEqual(
      ['gpt', 'analyst', 'other', '*', ''].map((agent) => grants.canUse(agent)),
      [true, true, false, false, false],
    )
    assert.deepEqual([grants.skillsOf('gpt'), grants.skillsOf('analyst')], [undefined, ['ask', 'sum']])
    assert.deepEqual(permissionsOf(['agent:*']).canUse('anything'), true)
    assert.equal(permissionsOf(['agent:analyst', 'skill:analyst/ask']).skillsOf('analyst'), undefined)
  })

  it('permit all operations, unless they name some', () => {
    const may = (scopes: readonly string[], operation: Operation): boolean =>
      permissionsOf(scopes).canPerform(operation)
    assert.ok(may(['agent:*'], 'CancelTask'))
    assert.ok(may(['agent:*', 'operation:read'], 'ListTasks'))
    assert.ok(!may(['agent:*', 'operation:read'], 'SendMessage'))
    assert.ok(!may(['agent:*', 'operation:read'], 'DeleteTaskPushNotificationConfig'))
    assert.ok(may(['operation:CancelTask', 'operation:send'], 'CancelTask'))
    assert.ok(!may(['operation:CancelTask', 'operation:send'], 'GetTask'))
  })

  it('permit nothing where there are none, and nothing by a word that is written wrongly', () => {
    for (const scopes of [undefined, [], ['agent:'], ['agent: *'], ['skill:x'], ['Agent:*'], ['agent:a/b']]) {
      assert.equal(permissionsOf(scopes).canUse('x'), false)
    }
  })

  it('are validated, with the expected format in the error', () => {
    for (const good of [
      'agent:*',
      'agent:a.b-c',
      'skill:a/b c'.replace(' ', '_'),
      'operation:push',
      'pay',
      'https://x/y',
    ]) {
      assert.equal(validateScope(good), undefined, good)
    }
    for (const bad of [
      'agent:',
      'agent:-',
      'skill:a',
      'skill:/b',
      'operation:fly',
      'two words',
      '',
      'ä',
      'agent:a\nb',
    ]) {
      assert.match(validateScope(bad) ?? '', /must be/, bad)
    }
  })
})

describe('the scopes that a caller may grant', () => {
  const scope = fc.constantFrom(
    ...['agent:*', 'agent:a', 'agent:b', 'skill:a/x', 'skill:a/y', 'skill:b/x', 'pay'],
    ...operationScopeNames.map((word) => `operation:${word}`),
  )
  const operations: readonly Operation[] = operationScopeNames.filter((word): word is Operation => /^[A-Z]/.test(word))

  it('is never more than they have', () => {
    const lists = fc.array(scope, { maxLength: 5 })
    fc.assert(
      fc.property(lists, lists, (held, asked) => {
        if (!coversScopes(held, asked)) return
        const [have, give] = [permissionsOf(held), permissionsOf(asked)]
        for (const agent of ['a', 'b', 'c']) {
          if (give.canUse(agent)) assert.ok(have.canUse(agent))
          for (const skill of ['x', 'y', 'z']) {
            const uses = (grants: typeof have): boolean =>
              grants.canUse(agent) && (grants.skillsOf(agent)?.includes(skill) ?? true)
            if (uses(give)) assert.ok(uses(have))
          }
        }
        for (const operation of operations) if (give.canPerform(operation)) assert.ok(have.canPerform(operation))
        if (asked.includes('pay')) assert.ok(held.includes('pay'))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is all that they have, and less', () => {
    fc.assert(fc.property(fc.array(scope, { maxLength: 5 }), (held) => assert.ok(coversScopes(held, held))))
    assert.ok(coversScopes(['agent:*'], ['skill:a/x', 'operation:read']))
    assert.ok(coversScopes(['agent:a', 'operation:read'], ['agent:a', 'operation:GetTask']))
    assert.ok(!coversScopes(['agent:a', 'operation:GetTask'], ['agent:a', 'operation:read']))
    assert.ok(!coversScopes(['agent:a', 'operation:read'], ['agent:a']))
  })
})
