import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { access } from '../config/access.ts'
import { limits } from '../config/limits.ts'
import { accessSettings } from './settings.ts'

type Config = Parameters<typeof accessSettings>[0]

function read(given: { access?: object; limits?: object; agents?: Record<string, object> }) {
  const agents = Object.fromEntries(
    Object.entries(given.agents ?? { gpt: {}, echo: {} }).map(([name, own]) => [
      name,
      { access: {}, limits: {}, ...own },
    ]),
  ) as unknown as Config['agents']
  return accessSettings({
    access: given.access === undefined ? undefined : access.parse(given.access),
    limits: limits.parse(given.limits ?? {}),
    agents,
    trustProxy: false,
  })
}

describe('what the configuration says of access', () => {
  it('lets everybody in where there is no word of it, and nobody without credentials where there is', () => {
    assert.deepEqual([read({}).isOpen('gpt'), read({ access: {} }).isOpen('gpt')], [true, false])
  })

  it('lets in without credentials where an agent is listed, or says so itself', () => {
    const { isOpen } = read({ access: { anonymous: ['echo'] } })
    assert.deepEqual([isOpen('echo'), isOpen('gpt'), isOpen('nobody')], [true, false, false])
    assert.ok(read({ access: { anonymous: '*' } }).isOpen('gpt'))
    const own = { echo: { access: { anonymous: false } }, gpt: { access: { anonymous: true } } }
    const settings = read({ access: { anonymous: ['echo'] }, agents: own })
    assert.deepEqual([settings.isOpen('echo'), settings.isOpen('gpt')], [false, true])
  })

  it('takes the words of objects for no agent', () => {
    const { isOpen, rates } = read({ access: {} })
    for (const word of ['constructor', 'toString', '__proto__']) {
      assert.deepEqual([isOpen(word), rates.perAgent.get(word)], [false, undefined])
    }
  })

  it('has a rate for everybody, so that every answer can tell where one stands [S2-30]', () => {
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
    assert.throws(() => read({ access: { jwt: jwt('agent: gpt') } }), /write agent:<name>/)
  })
})
