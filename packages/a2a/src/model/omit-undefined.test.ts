import assert from 'node:assert/strict'
import { it } from 'node:test'
import { omitUndefined } from './struct.ts'

it('omits fields that are undefined, and keeps null, empty and false ones', () => {
  const title: string | undefined = ['a'][1]
  const kept: {
    readonly id: string
    readonly title?: string
    readonly note: null
    readonly text: string
    readonly is: boolean
  } = omitUndefined({ id: '1', title, note: null, text: '', is: false })
  assert.deepEqual(Object.keys(kept), ['id', 'note', 'text', 'is'])
})

it('keeps a field of the name __proto__ as a field', () => {
  const kept = omitUndefined(JSON.parse('{ "__proto__": { "a": 1 } }') as object)
  assert.deepEqual(Object.keys(kept), ['__proto__'])
  assert.equal(Object.getPrototypeOf(kept), Object.prototype)
})
