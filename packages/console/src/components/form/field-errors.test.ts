import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldErrorsFrom } from './field-errors.ts'

describe('a validation error of the hub', () => {
  it('is assigned to the field of the form, without the line of the file', () => {
    const violations = [
      { field: 'agents.x.model', description: 'line 20: is missing: give a text' },
      { field: 'agents.x.auth.bearer', description: 'give a text' },
      { field: 'agents.x', description: 'give a command or a url' },
      { field: 'agents."a.b".url', description: 'give a url' },
      { field: 'name', description: 'is reserved' },
    ]
    assert.deepEqual(fieldErrorsFrom({ violations, message: '' }, 'x'), [
      { field: 'model', text: 'is missing: give a text' },
      { field: 'auth.bearer', text: 'give a text' },
      { field: '', text: 'give a command or a url' },
      { field: 'agents."a.b".url', text: 'give a url' },
      { field: 'name', text: 'is reserved' },
    ])
    assert.equal(fieldErrorsFrom({ violations, message: '' }, 'a.b')[3]?.field, 'url')
  })

  it('concerns the whole form if it names no field', () => {
    assert.deepEqual(fieldErrorsFrom({ violations: [], message: 'There is an agent x already' }, 'x'), [
      { field: '', text: 'There is an agent x already' },
    ])
  })
})
