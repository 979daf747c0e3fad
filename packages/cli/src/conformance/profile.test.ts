import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allChecks } from './checks/index.ts'
import { builtInProfiles, parseProfile } from './profile.ts'

const parse = (json: unknown) => parseProfile(JSON.stringify(json), 'p.json')

describe('a profile', () => {
  it('names a message for a scenario, as a text or an object', () => {
    const hint = { messageIdPrefix: 'x', parts: [{ text: 'y' }] }
    assert.deepEqual(
      parse({ text: 'hi', messages: { slow: 'wait', fail: hint }, accepted: { 'card.etag': 'a proxy drops it' } }),
      {
        text: 'hi',
        messages: { slow: { text: 'wait' }, fail: hint },
        accepted: { 'card.etag': 'a proxy drops it' },
      },
    )
  })

  it('is refused with the field that is wrong', () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [[], /the profile must be an object/],
      [{ massages: {} }, /no field massages/],
      [{ messages: { quick: 'x' } }, /no scenario quick/],
      [{ messages: { slow: 5 } }, /messages\.slow must be a text/],
      [{ accepted: { a: 1 } }, /accepted must be/],
      [{ otherCaller: { headers: 'x' } }, /otherCaller\.headers must be/],
    ]
    for (const [json, message] of cases) assert.throws(() => parse(json), { name: 'ProfileError', message })
    assert.throws(() => parseProfile('{', 'p.json'), { message: /p\.json is not JSON/ })
  })

  it('is built in for the demo agents of Parley, and accepts one failure with its reason', () => {
    const profile = builtInProfiles['parley-demo']
    assert.deepEqual(parse(profile), profile)
    const [[id, reason] = ['', ''], ...others] = Object.entries(profile?.accepted ?? {})
    assert.deepEqual(others, [])
    assert.equal(id, 'version.missing-is-not-1.0')
    assert.ok(allChecks.some((check) => check.id === id))
    assert.match(reason, /B-10/)
  })
})
