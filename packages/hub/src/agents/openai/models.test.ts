import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Struct, Turn } from '@parley/a2a'
import { chosenModel, isModelPermitted } from './open-agent.ts'

const choice = { model: 'small', models: ['large-*', 'vendor/*-mini*', 'one'] }
const turnWith = (metadata: Struct, request: Struct = {}): Turn =>
  ({ message: { metadata }, metadata: request }) as Turn

describe('the choice of a model', () => {
  it('is within what the operator permits', () => {
    const permitted = ['small', 'one', 'large-', 'large-2', 'vendor/x-mini', 'vendor/a-mini-b']
    const others = ['large', 'xlarge-2', 'two', 'vendor/mini', 'vendor/', 'on', 'one1']
    for (const name of permitted) assert.ok(isModelPermitted(name, choice), name)
    for (const name of others) assert.ok(!isModelPermitted(name, choice), name)
    assert.ok(isModelPermitted('anything', { model: 'small', models: ['*'] }))
  })

  it('is made by the metadata of the message or of the request', () => {
    assert.equal(chosenModel(turnWith({ model: 'large-2' }), choice), 'large-2')
    assert.equal(chosenModel(turnWith({}, { model: 'one' }), choice), 'one')
    assert.equal(chosenModel(turnWith({ model: 'small' }), choice), undefined)
    assert.throws(() => chosenModel(turnWith({ model: 'other' }), choice), { code: 'INVALID_PARAMS' })
  })

  it('is made by a skill that is a model, and not by any other', () => {
    assert.equal(chosenModel(turnWith({ skillId: 'one' }), choice), 'one')
    assert.equal(chosenModel(turnWith({ skillId: 'poetry' }), choice), undefined)
  })
})
