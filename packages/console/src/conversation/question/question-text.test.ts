import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutFieldLines } from './question-text.ts'

const fields = [
  { name: 'city', label: 'City' },
  { name: 'max_price', label: 'Max price' },
]

describe('the text of a question with a form', () => {
  it('does not repeat the fields', () => {
    const text = 'Which table?\n- city: City: Where to\n- max_price (optional) [10 | 20]'
    assert.equal(withoutFieldLines(text, fields), 'Which table?')
    assert.equal(
      withoutFieldLines('Which table?\n\n* **City**: where\n* `Max price`\n\nThank you', fields),
      'Which table?\n\n\nThank you',
    )
  })

  it('stays whole unless it describes all fields', () => {
    const text = 'Which table?\n- city: Where to\n- price: at most'
    assert.equal(withoutFieldLines(text, fields), text)
    assert.equal(withoutFieldLines('city: yours\nmax_price: 20', fields), 'city: yours\nmax_price: 20')
    assert.equal(withoutFieldLines('- city hall\n- max_price', fields), '- city hall\n- max_price')
  })
})
