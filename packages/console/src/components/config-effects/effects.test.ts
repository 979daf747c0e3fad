import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeEffects, effectsSummary } from './effects.ts'

const none = { added: [], changed: [], removed: [], applied: [], restart: [] }

describe('the effects of a configuration', () => {
  it('are listed by kind, without empty ones', () => {
    const effects = { ...none, added: ['timer'], removed: ['old', 'older'], restart: ['listen'] }
    assert.deepEqual(
      describeEffects(effects).map(({ id, names }) => [id, names]),
      [
        ['added', ['timer']],
        ['removed', ['old', 'older']],
        ['restart', ['listen']],
      ],
    )
    assert.equal(effectsSummary(effects), 'added: timer; removed: old, older; restart: listen')
  })

  it('are none if only the text differs', () => {
    assert.match(effectsSummary(none), /only comments or formatting changed/)
  })
})
