/** Which route a message takes, and why: by its content, its caller and the health of the agents. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Part, Struct } from '@parley/a2a'
import { routeSchema as schema } from '../config/sections/routes.ts'
import { decideRoute, type AgentAvailability, messageFacts } from './decide-route.ts'

interface Given {
  readonly parts?: readonly Part[]
  readonly metadata?: Struct
  readonly callerId?: string
  readonly standing?: Readonly<Record<string, AgentAvailability>>
  readonly random?: () => number
}

const text = (said: string): readonly Part[] => [{ text: said }]

function decision(routes: readonly object[], given: Given = {}) {
  const { parts = text('hello'), metadata = {}, callerId = 'me', standing = {}, random = () => 0 } = given
  return decideRoute({
    agent: 'front',
    routes: routes.map((one) => schema.parse({ from: 'front', ...one })),
    facts: messageFacts({ parts }, { callerId, metadata }),
    availability: (agent) => standing[agent] ?? { state: 'up' },
    random,
  })
}

const takes = (when: object, given: Given): boolean => decision([{ when, to: 'back' }], given).route === 0

describe('a route', () => {
  it('fits a text that is contained, in capitals or not, and one that an expression matches [S4-16]', () => {
    assert.ok(takes({ text: 'invoice' }, { parts: text('My INVOICE, please') }))
    assert.ok(!takes({ text: 'invoice' }, { parts: text('My bill') }))
    assert.ok(takes({ text: ['bill', 'invoice'] }, { parts: [{ data: 1 }, { text: 'the bill' }] }))
    assert.ok(takes({ regex: '^order \\d+$' }, { parts: text('order 17') }))
    assert.ok(!takes({ regex: '^order \\d+$' }, { parts: text('Order 17') }))
    assert.ok(takes({ regex: '(?i)^order' }, { parts: text('Order 17') }))
  })

  it('fits skills, metadata, callers and parts', () => {
    assert.ok(takes({ skill: 'sum' }, { metadata: { skillId: 'sum' } }))
    assert.ok(!takes({ skill: 'sum' }, {}))
    assert.ok(
      takes(
        { metadata: { 'order.kind': ['a', 'b'], urgent: true } },
        { metadata: { order: { kind: 'b' }, urgent: true } },
      ),
    )
    assert.ok(!takes({ metadata: { urgent: true } }, { metadata: { urgent: 'true' } }))
    assert.ok(!takes({ metadata: { constructor: null } }, {}))
    assert.ok(takes({ caller: 'key:*' }, { callerId: 'key:anna' }))
    assert.ok(takes({ caller: 'key:anna' }, { callerId: 'agent:x|agent:y|key:anna' }))
    assert.ok(!takes({ caller: 'key:bert' }, { callerId: 'agent:x|key:anna' }))
    assert.ok(takes({ parts: 'image/*' }, { parts: [{ text: 'x' }, { raw: '', mediaType: 'image/PNG' }] }))
    assert.ok(takes({ parts: 'file' }, { parts: [{ url: 'https://x' }] }))
    assert.ok(!takes({ parts: ['data', 'image/*'] }, { parts: text('x') }))
  })

  it('fits if all that it says holds, and always if it says nothing', () => {
    assert.ok(takes({ text: 'a', skill: 's' }, { parts: text('a'), metadata: { skillId: 's' } }))
    assert.ok(!takes({ text: 'a', skill: 's' }, { parts: text('a') }))
    assert.equal(decision([{ to: 'back' }]).route, 0)
  })

  it('comes back from an expression that other engines would never come back from', () => {
    assert.ok(!takes({ regex: '(a+)+(b+)+$' }, { parts: text(`${'a'.repeat(1_000_000)}!`) }))
  })
})

describe('of several routes', () => {
  it('the match with the highest priority wins, of equals the first, and the considered routes are reported', () => {
    const routes = [
      { name: 'low', to: 'one' },
      { name: 'high', to: 'two', priority: 5, when: { text: 'x' } },
      { name: 'also low', to: 'three' },
    ]
    assert.deepEqual(decision(routes).considered, [
      { route: 1, name: 'high', fits: false, why: 'the text contains none of the phrases' },
      { route: 0, name: 'low', fits: true, why: 'it matches' },
    ])
    assert.deepEqual(decision(routes, { parts: text('x') }).to, ['two'])
    const none = decision([{ to: 'one', from: 'another' }])
    assert.deepEqual([none.route, none.to, none.why], [undefined, ['front'], 'this agent has no routes'])
  })

  it('one whose agents may not be asked is passed over; one whose agents are down is not', () => {
    const routes = [{ to: 'one', fallback: 'two' }, { to: 'three' }]
    const over = { one: { state: 'over', why: 'the caller has no permission' }, two: { state: 'over' } } as const
    assert.deepEqual(decision(routes, { standing: over }).to, ['three'])
    const down = { one: { state: 'down', why: 'it is unavailable' }, two: { state: 'over' } } as const
    const unavailable = decision(routes, { standing: down })
    assert.deepEqual([unavailable.route, unavailable.to], [0, []])
    assert.match(unavailable.why, /all of its agents are down: one: it is unavailable/)
  })
})

describe('of several agents', () => {
  it('each is drawn as often as its weight says', () => {
    const to = [
      { agent: 'one', weight: 3 },
      { agent: 'two', weight: 1 },
    ]
    const first = (random: number): string | undefined => decision([{ to }], { random: () => random }).to[0]
    const drawn = Array.from({ length: 100 }, (_, index) => first(index / 100))
    assert.equal(drawn.filter((agent) => agent === 'one').length, 75)
  })

  it('unavailable agents are skipped, slow ones come last, and the fallback is reported', () => {
    const route = { to: ['one', 'two'], fallback: ['three', 'four'] }
    const standing = {
      one: { state: 'down', why: 'it is unavailable' },
      two: { state: 'slow', why: 'it is slow' },
    } as const
    const { to, why } = decision([route], { standing })
    assert.deepEqual(to, ['three', 'four', 'two'])
    assert.equal(why, 'it matches; fallback to three: one: it is unavailable; two: it is slow')
  })

  it('whatever their weights and states are, contain each available agent once and no other', () => {
    const agents = ['a', 'b', 'c', 'd', 'e']
    fc.assert(
      fc.property(
        fc.array(fc.record({ agent: fc.constantFrom(...agents), weight: fc.integer({ min: 1, max: 9 }) }), {
          minLength: 1,
        }),
        fc.array(fc.constantFrom(...agents)),
        fc.array(fc.constantFrom('up', 'slow', 'down', 'over'), { minLength: 5, maxLength: 5 }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 30, maxLength: 30 }),
        (to, fallback, states, chances) => {
          const standing = Object.fromEntries(agents.map((name, index) => [name, { state: states[index] }])) as Record<
            string,
            AgentAvailability
          >
          const { to: order, route } = decision([{ to, fallback }], { standing, random: () => chances.pop() ?? 0 })
          const named = new Set([...to.map(({ agent }) => agent), ...fallback])
          const able = [...named].filter((name) => /up|slow/.test(standing[name]?.state ?? ''))
          if (route === undefined) assert.ok([...named].every((name) => standing[name]?.state === 'over'))
          else assert.deepEqual([...order].sort(), able.sort())
        },
      ),
    )
  })
})
