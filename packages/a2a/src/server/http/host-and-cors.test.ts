import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from '../../bindings/http.ts'
import { baseUrl, createCors, createHostCheck, isLocalRequest } from './addresses.ts'

function request(headers: Record<string, string>, over: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    path: '/',
    query: '',
    header: (name) => headers[name],
    body: () => Promise.resolve(''),
    signal: new AbortController().signal,
    secure: false,
    prefix: '',
    ...over,
  }
}

describe('the guard of a server without authentication', () => {
  const check = (headers: Record<string, string>, cors = createCors(undefined)): string | undefined =>
    createHostCheck({}, cors)(request(headers, { localAddress: '127.0.0.1' }))?.code

  it('accepts local host names, at any port', () => {
    for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.1:8080', '[::1]:3000', '[::1]'])
      assert.equal(check({ host }), undefined)
    assert.equal(check({ host: 'localhost:3000', origin: 'http://localhost:3000' }), undefined)
  })

  it('refuses a name that only resolves here, and a request without one', () => {
    for (const host of ['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.nip.io', '']) {
      assert.equal(check({ host }), 'PERMISSION_DENIED', host)
    }
    assert.equal(check({}), 'PERMISSION_DENIED')
  })

  it('refuses pages of other origins, unless they are allowed', () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:5173', 'http://localhost']) {
      assert.equal(check({ host: 'localhost:3000', origin }), 'PERMISSION_DENIED', origin)
    }
    const headers = { host: 'localhost:3000', origin: 'http://localhost:5173' }
    assert.equal(check(headers, createCors(['http://localhost:5173'])), undefined)
  })

  it('checks only requests to a loopback address, and accepts the public name', () => {
    const hostError = createHostCheck({ publicUrl: 'https://Mine.example:8443/x' }, createCors(undefined))
    for (const localAddress of ['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1', '']) {
      assert.equal(hostError(request({ host: 'evil.example' }, { localAddress }))?.code, 'PERMISSION_DENIED')
      assert.equal(hostError(request({ host: 'mine.example' }, { localAddress })), undefined)
    }
    for (const localAddress of ['10.0.0.5', '::ffff:10.0.0.5', 'fe80::1', undefined]) {
      assert.equal(hostError(request({ host: 'evil.example' }, { localAddress })), undefined)
    }
  })

  it('is off if callers authenticate, and applies a list if there is one', () => {
    const authenticate = () => null
    const cors = createCors(undefined)
    const foreign = request({ host: 'evil.example' }, { localAddress: '127.0.0.1' })
    assert.equal(createHostCheck({ authenticate }, cors)(foreign), undefined)
    const listed = createHostCheck({ authenticate, hosts: ['A.example'] }, cors)
    for (const localAddress of ['127.0.0.1', undefined]) {
      assert.equal(listed(request({ host: 'evil.example' }, { localAddress }))?.code, 'PERMISSION_DENIED')
      assert.equal(listed(request({ host: 'a.example:1' }, { localAddress })), undefined)
    }
  })
})

describe('a local caller', () => {
  const direct = { trustProxy: false }
  const local = { remoteAddress: '127.0.0.1' }

  it('connects from this machine', () => {
    assert.equal(isLocalRequest(request({ host: 'localhost:3000' }, local), direct), true)
    assert.equal(isLocalRequest(request({ host: '127.0.0.1:1' }, { remoteAddress: '::ffff:127.0.0.1' }), direct), true)
    assert.equal(isLocalRequest(request({ host: 'agent.example' }, local), direct), false)
    assert.equal(isLocalRequest(request({ host: 'localhost' }, { remoteAddress: '10.0.0.5' }), direct), false)
    assert.equal(isLocalRequest(request({ host: 'localhost' }), direct), false)
  })

  it('is not a proxy for remote clients', () => {
    for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']) {
      assert.equal(isLocalRequest(request({ host: 'localhost', [name]: '1.1 outer' }, local), direct), false, name)
    }
  })

  it('does not exist if the operator configures a proxy or a public URL', () => {
    const here = request({ host: 'localhost:3000' }, local)
    assert.equal(isLocalRequest(here, { trustProxy: true }), false)
    assert.equal(isLocalRequest(here, { trustProxy: false, publicUrl: 'https://agents.example/x' }), false)
    for (const publicUrl of ['http://localhost:3000', 'http://127.0.0.1:8080/x', 'http://[::1]:3000']) {
      assert.equal(isLocalRequest(here, { trustProxy: false, publicUrl }), true, publicUrl)
    }
  })
})

describe('allowed origins', () => {
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' }

  it('get the allowed headers in a preflight', () => {
    const answer = createCors(['https://app.example']).preflight(request(preflight, { method: 'OPTIONS' }))
    assert.equal(answer?.status, 204)
    assert.equal(answer?.headers['access-control-allow-origin'], 'https://app.example')
    for (const name of ['Last-Event-ID', 'A2A-Version', 'A2A-Extensions', 'Authorization', 'Content-Type']) {
      assert.ok(answer?.headers['access-control-allow-headers']?.split(', ').includes(name), name)
    }
  })

  it('are the listed ones only, and the response varies by origin', () => {
    const cors = createCors(['https://app.example'])
    assert.equal(
      cors.preflight(request({ ...preflight, origin: 'https://evil.example' }, { method: 'OPTIONS' }))?.status,
      403,
    )
    assert.deepEqual(cors.headers(request({ origin: 'https://evil.example' })), { vary: 'Origin' })
    assert.equal(
      cors.headers(request({ origin: 'https://app.example' }))['access-control-allow-origin'],
      'https://app.example',
    )
    assert.equal(
      createCors('*').headers(request({ origin: 'https://any.example' }))['access-control-allow-origin'],
      '*',
    )
    assert.deepEqual(createCors(undefined).headers(request({ origin: 'https://app.example' })), {})
  })
})

describe('the base URL', () => {
  const direct = { trustProxy: false }

  it('is that of the Host, with the mount prefix', () => {
    assert.equal(baseUrl(request({ host: 'a.example:81' }, { prefix: '/agent' }), direct), 'http://a.example:81/agent')
    assert.equal(baseUrl(request({ host: '[::1]:3000' }, { secure: true }), direct), 'https://[::1]:3000')
  })

  it('never repeats an invalid host', () => {
    for (const host of ['a b', 'a/b', 'a"b', 'a@b', '', '-', 'a:123456', 'x'.repeat(300), 'a\u0000', '<script>']) {
      assert.equal(baseUrl(request({ host }), direct), 'http://localhost', host)
    }
  })

  it('is the configured one, if there is one, and has the prefix once', () => {
    const options = { publicUrl: 'https://agents.example/x', trustProxy: false }
    assert.equal(baseUrl(request({ host: 'inner' }), options), 'https://agents.example/x')
    assert.equal(baseUrl(request({ host: 'inner' }, { prefix: '/agent' }), options), 'https://agents.example/x/agent')
    assert.equal(baseUrl(request({ host: 'inner' }, { prefix: '/x' }), options), 'https://agents.example/x')
  })

  it('trusts a proxy only if configured', () => {
    const headers = { host: 'inner:1', 'x-forwarded-host': 'outer.example, mid', 'x-forwarded-proto': 'https' }
    assert.equal(baseUrl(request(headers), direct), 'http://inner:1')
    assert.equal(baseUrl(request(headers), { trustProxy: true }), 'https://outer.example')
    assert.equal(
      baseUrl(request({ ...headers, 'x-forwarded-proto': 'javascript' }), { trustProxy: true }),
      'http://outer.example',
    )
  })
})
