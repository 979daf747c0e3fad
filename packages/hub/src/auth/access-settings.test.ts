import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { accessSection } from '../config/sections/access.ts'
import { limitsSection } from '../config/sections/limits.ts'
import { accessSettings } from './admit-request.ts'

type Config = Parameters<typeof accessSettings>[0]

function read(given: { access?: object; limits?: object; agents?: Record<string, object> }) {
  const agents = Object.fromEntries(
    Object.entries(given.agents ?? { gpt: {}, echo: {} }).map(([name, own]) => [
      name,
      { access: {}, limits: {}, ...own },
    ]),
  ) as unknown as Config['agents']
  return accessSettings({
    access: given.access === undefined ? undefined : accessSection.parse(given.access),
    limits: limitsSection.parse(given.limits ?? {}),
    agents,
    trustProxy: false,
  })
}

describe('what the configuration says of access', () => {
  it('allows anonymous access without `access`, and requires credentials with it', () => {
    assert.deepEqual(
      [read({}).isAnonymousAllowed('gpt'), read({ access: {} }).isAnonymousAllowed('gpt')],
      [true, false],
    )
  })

  it('allows anonymous access to agents that are listed, or that set it themselves', () => {
    const { isAnonymousAllowed } = read({ access: { anonymous: ['echo'] } })
    assert.deepEqual(
      [isAnonymousAllowed('echo'), isAnonymousAllowed('gpt'), isAnonymousAllowed('missing')],
      [true, false, false],
    )
    assert.ok(read({ access: { anonymous: '*' } }).isAnonymousAllowed('gpt'))
    const own = { echo: { access: { anonymous: false } }, gpt: { access: { anonymous: true } } }
    const settings = read({ access: { anonymous: ['echo'] }, agents: own })
    assert.deepEqual([settings.isAnonymousAllowed('echo'), settings.isAnonymousAllowed('gpt')], [false, true])
  })

  it('takes the words of objects for no agent', () => {
    const { isAnonymousAllowed, rates } = read({ access: {} })
    for (const word of ['constructor', 'toString', '__proto__']) {
      assert.deepEqual([isAnonymousAllowed(word), rates.perAgent.get(word)], [false, undefined])
    }
  })

  it('has a rate for every caller, so that every response carries the state of the limit [S2-30]', () => {
    const minute = 60_000
    assert.deepEqual(read({}).rates.perAddress, { count: 60_000, windowMs: minute })
    const { rates } = read({ access: {} })
    assert.deepEqual([rates.perKey?.count, rates.perAddress?.count], [600, 120])
    const given = read({ limits: { perKey: '5/s', perAddress: '1/min', perAgent: { gpt: { rate: '9/min' } } } }).rates
    assert.deepEqual([given.perKey?.count, given.perAddress?.count, given.perAgent.get('gpt')?.count], [5, 1, 9])
    const own = { gpt: { limits: { rate: { count: 3, windowMs: minute } } } }
    const both = read({ limits: { perAgent: { gpt: { rate: '9/min' } } }, agents: own })
    assert.equal(both.rates.perAgent.get('gpt')?.count, 3)
  })

  it('is not taken with a scope that permits nothing because it is written wrongly', () => {
    const jwt = (scope: string) => [{ issuer: 'https://id.test', audience: 'parley', scopes: { analysts: [scope] } }]
    assert.equal(read({ access: { jwt: jwt('agent:gpt') } }).jwt.length, 1)
    assert.throws(() => read({ access: { jwt: jwt('agent: gpt') } }), /must be agent:<name>/)
  })
})
