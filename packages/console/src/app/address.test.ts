import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isPage, placeOf, returnPath, withQuery } from './address.ts'

describe('an address', () => {
  it('names a page and a place in it', () => {
    assert.deepEqual(placeOf('/tasks/1/events'), { page: 'tasks', rest: ['1', 'events'] })
    assert.deepEqual(placeOf('/agents/a%20b'), { page: 'agents', rest: ['a b'] })
    assert.deepEqual(placeOf('/'), { page: undefined, rest: [] })
    assert.deepEqual(placeOf('/elsewhere/1'), { page: undefined, rest: ['1'] })
  })

  it('is taken as it is where it is badly written', () => {
    assert.deepEqual(placeOf('/agents/50%'), { page: 'agents', rest: ['50%'] })
  })

  it('is ours only where the hub serves the console', () => {
    assert.deepEqual(['/', '/tasks', '/tasks/1', '/tasksome', '/admin/openapi.json', '/a2a/echo'].map(isPage), [
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it('takes other filters, and leaves out those that are empty', () => {
    const from = new URL('http://hub.test/tasks?agent=echo&text=a')
    assert.equal(withQuery(from, { agent: undefined, text: 'b c', state: '' }).search, '?text=b+c')
    assert.equal(from.search, '?agent=echo&text=a')
  })

  it('is where one comes back to after signing in, without what was said at the door', () => {
    const back = (path: string): string => returnPath(new URL(path, 'http://hub.test'))
    assert.equal(back('/tasks?state=a%7Cb&signInError=no'), '/tasks?state=a%7Cb')
    assert.equal(back('/?signInError=no'), '/')
    assert.equal(back('/tasks?text=a\\b'), '/tasks?text=a%5Cb')
    // Never to another host.
    assert.equal(returnPath(new URL('http://hub.test//evil.example/x')), '/evil.example/x')
  })
})
