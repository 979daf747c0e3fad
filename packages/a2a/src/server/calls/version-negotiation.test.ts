import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from '../../bindings/http.ts'
import type { VersionId } from '../../versions/index.ts'
import { createVersionNegotiator } from '../server-context.ts'

const request = (header?: string, query = ''): HttpRequest => ({
  method: 'POST',
  path: '/',
  query,
  header: (name) => (name === 'a2a-version' ? header : undefined),
  body: () => Promise.resolve(''),
  signal: new AbortController().signal,
  secure: false,
  prefix: '',
})
const lenient = createVersionNegotiator(undefined, false)
const strict = createVersionNegotiator(undefined, true)
function asked(header?: string, query?: string): string | undefined {
  const version = lenient.requestedVersion(request(header, query))
  return typeof version === 'object' ? version.id : version
}

describe('the version a request asks for', () => {
  it('is Major.Minor of the header, whatever the patch [B-4]', () => {
    for (const id of ['0.2', '0.3', '1.0'] satisfies VersionId[]) {
      assert.equal(asked(id), id)
      assert.equal(asked(`${id}.7`), id)
      assert.equal(asked(` ${id} `), id)
    }
  })

  it('may be in the query, and the header wins over it [B-2]', () => {
    assert.equal(asked(undefined, 'A2A-Version=1.0'), '1.0')
    assert.equal(asked(undefined, 'x=1&a2a-version=0%2E3'), '0.3')
    assert.equal(asked('0.3', 'A2A-Version=1.0'), '0.3')
  })

  it('is missing if it is empty [B-3]', () => {
    assert.equal(asked(), undefined)
    assert.equal(asked(''), undefined)
    assert.equal(asked('', 'A2A-Version='), undefined)
  })

  it('is unsupported if it is another one, a list, or invalid [B-4 B-5]', () => {
    for (const value of ['0.5', '1.1', '2.0', 'v1', '1', 'abc', '1.0, 0.3', '1.0.x', '01.0', '__proto__']) {
      assert.equal(asked(value), 'unsupported', value)
    }
  })
})

describe('a request that names no version', () => {
  it('is read by the name of its method [B-10]', () => {
    assert.equal(lenient.ofMethod('SendMessage').id, '1.0')
    assert.equal(lenient.ofMethod('message/send').id, '0.3')
    assert.equal(lenient.ofMethod('nothing of the kind').id, '0.3')
  })

  it('is read by its path [B-11]', () => {
    assert.equal(lenient.ofPath('/message:send').id, '1.0')
    assert.equal(lenient.ofPath('/v1/message:send').id, '0.3')
  })

  it('is 0.3 in strict mode [B-3]', () => {
    assert.equal(strict.ofMethod('SendMessage').id, '0.3')
    assert.equal(strict.ofPath('/message:send').id, '0.3')
  })

  it('is refused in strict mode by a server without 0.x [B-3]', () => {
    const modern = createVersionNegotiator(['1.0'], true)
    assert.equal(modern.requestedVersion(request()), 'unsupported')
    assert.equal(modern.requestedVersion(request('')), 'unsupported')
    assert.equal(createVersionNegotiator(['1.0', '0.3'], true).requestedVersion(request()), undefined)
    assert.equal(createVersionNegotiator(['1.0'], false).requestedVersion(request()), undefined)
  })
})

describe('a server with some versions only', () => {
  it('refuses the others and lists its own [B-5 B-7 B-9]', () => {
    const modern = createVersionNegotiator(['1.0'], false)
    assert.equal(modern.requestedVersion(request('0.3')), 'unsupported')
    assert.equal(modern.ofMethod('message/send').id, '1.0')
    assert.equal(modern.unsupportedVersionError().details.supportedVersions, '1.0')
    assert.equal(lenient.unsupportedVersionError().details.supportedVersions, '1.0,0.3,0.2')
  })

  it('must offer one', () => {
    assert.throws(() => createVersionNegotiator([], false), { name: 'ConfigError', path: 'versions' })
  })
})
