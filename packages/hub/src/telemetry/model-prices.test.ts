import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { modelCost } from './model-prices.ts'

const usage = { inputTokens: 1_000_000, outputTokens: 500_000, totalTokens: 1_500_000 }

describe('what a call of a model costs', () => {
  const prices = {
    'm-1': { input: 2, output: 8, cachedInput: 0.5 },
    'm-*': { input: 1, output: 1 },
    'm-2*': { input: 10, output: 10 },
  }

  it('is what its tokens cost, each sort at its price', () => {
    assert.equal(modelCost('m-1', usage, prices), 6)
    assert.equal(modelCost('m-1', { ...usage, cachedTokens: 400_000 }, prices), 0.6 * 2 + 0.4 * 0.5 + 4)
    assert.equal(modelCost('m-1', { inputTokens: 3, outputTokens: 1, totalTokens: 4 }, prices), 0.000014)
  })

  it('is by the name that fits best', () => {
    assert.equal(modelCost('m-2-mini', usage, prices), 15)
    assert.equal(modelCost('m-9', usage, prices), 1.5)
  })

  it('is not known without a price, or without tokens', () => {
    assert.equal(modelCost('other', usage, prices), undefined)
    assert.equal(modelCost('toString', usage, prices), undefined)
    assert.equal(modelCost('m-1', undefined, prices), undefined)
  })
})
