import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard, AgentExtension } from './card.ts'
import { cursorExtension } from './extension.ts'
import { newId, isUnguessableId } from './id.ts'
import { cursorParams, idempotencyWindowMs, canResend } from './idempotency.ts'

function card(extensions: readonly AgentExtension[], over: Partial<AgentCard> = {}): AgentCard {
  return {
    name: 'A',
    description: 'a',
    version: '1',
    supportedInterfaces: [],
    capabilities: { extensions },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...over,
  }
}
const stating = (windowMs: number, over?: Partial<AgentCard>): AgentCard =>
  card([{ uri: cursorExtension, params: cursorParams(windowMs) }], over)

describe('the window on a card', () => {
  it('is declared by a parameter of the cursor extension, and is a day without it [B-163]', () => {
    assert.equal(idempotencyWindowMs(stating(5_000)), 5_000)
    assert.equal(idempotencyWindowMs(card([{ uri: cursorExtension }])), 86_400_000)
  })

  it('is undefined if the card declares none, or an invalid one', () => {
    assert.equal(idempotencyWindowMs(card([])), 0)
    assert.equal(idempotencyWindowMs(stating(0)), 0)
    assert.equal(idempotencyWindowMs(stating(-1)), 0)
    assert.equal(idempotencyWindowMs(card([{ uri: cursorExtension, params: { idempotencyWindowMs: '1d' } }])), 0)
  })
})

describe('a message whose response was lost', () => {
  it('may be sent again within the window [B-164]', () => {
    const messageId = newId()
    assert.equal(canResend(stating(5_000), { messageId, agoMs: 4_999 }), true)
    assert.equal(canResend(stating(5_000), { messageId, agoMs: 5_000 }), false)
    assert.equal(canResend(stating(0), { messageId, agoMs: 0 }), false)
  })

  it('may be sent again under a guessable id only if every caller is authenticated [B-163]', () => {
    const sent = { messageId: 'order-17', agoMs: 0 }
    const keyed = [{ schemes: { key: { list: [] } } }]
    assert.equal(canResend(stating(5_000), sent), false)
    assert.equal(canResend(stating(5_000, { securityRequirements: keyed }), sent), true)
    assert.equal(canResend(stating(5_000, { securityRequirements: [...keyed, { schemes: {} }] }), sent), false)
  })
})

it('accepts a UUID as unguessable if it is random or a hash: with dashes or without, in any case', () => {
  const random = crypto.randomUUID()
  const hashed = '5c146b14-3c52-8afd-938a-375d0df1fbf6'
  for (const id of [random, random.toUpperCase(), random.replaceAll('-', ''), newId(), hashed]) {
    assert.equal(isUnguessableId(id), true, id)
  }
  const byTime = 'c232ab00-9414-11ec-b3c8-9f6bdeced846'
  const byName = '2ed6657d-e927-568b-95e1-2665a8aea6a2'
  const nil = '00000000-0000-0000-0000-000000000000'
  for (const id of [
    'm-1',
    '',
    byTime,
    byName,
    nil,
    `${random}0`,
    ` ${random}`,
    `${random}\n`,
    random.replace('-', ''),
  ]) {
    assert.equal(isUnguessableId(id), false, JSON.stringify(id))
  }
})
