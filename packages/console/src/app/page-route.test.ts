import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isConsolePath, parsePageRoute, signInReturnPath, withQuery } from './page-route.ts'

describe('an address', () => {
  it('has a page and segments', () => {
    assert.deepEqual(parsePageRoute('/tasks/1/events'), { page: 'tasks', segments: ['1', 'events'] })
    assert.deepEqual(parsePageRoute('/agents/a%20b'), { page: 'agents', segments: ['a b'] })
    assert.deepEqual(parsePageRoute('/'), { page: undefined, segments: [] })
    assert.deepEqual(parsePageRoute('/elsewhere/1'), { page: undefined, segments: ['1'] })
  })

  it('is taken as it is if it is badly encoded', () => {
    assert.deepEqual(parsePageRoute('/agents/50%'), { page: 'agents', segments: ['50%'] })
  })

  it('belongs to the console only where the hub serves it', () => {
    assert.deepEqual(['/', '/tasks', '/tasks/1', '/tasksome', '/admin/openapi.json', '/a2a/echo'].map(isConsolePath), [
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it('takes other filters and omits empty ones', () => {
    const from = new URL('http://hub.test/tasks?agent=echo&text=a')
    assert.equal(withQuery(from, { agent: undefined, text: 'b c', state: '' }).search, '?text=b+c')
    assert.equal(from.search, '?agent=echo&text=a')
  })

  it('is where the user returns after signing in, without the sign-in error', () => {
    const back = (path: string): string => signInReturnPath(new URL(path, 'http://hub.test'))
    assert.equal(back('/tasks?state=a%7Cb&signInError=no'), '/tasks?state=a%7Cb')
    assert.equal(back('/?signInError=no'), '/')
    assert.equal(back('/tasks?text=a\\b'), '/tasks?text=a%5Cb')
    // Never to another host.
    assert.equal(signInReturnPath(new URL('http://hub.test//evil.example/x')), '/evil.example/x')
  })
})
