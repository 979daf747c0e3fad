/**
 * Guards against: a refusal that does not look like one. In other servers wrong
 * credentials gave a 500, or a 200 with a code that means "malformed
 * request"; no client can then know that it must authenticate.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, post, sendRequest, requestFormats } from './protocol-requests.ts'

describe('a caller without credentials', () => {
  const agent = testAgent(({ text }) => text, {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    server: {
      authenticate({ header }) {
        const token = header('authorization')
        if (token === 'Bearer outsider') throw new A2AError('PERMISSION_DENIED', 'Not for outsiders')
        return token === 'Bearer ada' ? { id: 'ada' } : undefined
      },
    },
  })
  after(() => agent.close())

  for (const way of requestFormats) {
    const { path, body, headers } = sendRequest(way, newMessage(way, 'x'))

    it(`gets a 401 with WWW-Authenticate, in ${nameOf(way)} [B-150 B-151]`, async () => {
      for (const given of [
        {},
        { authorization: 'Bearer wrong' },
        { authorization: 'Basic eDp5' },
        { authorization: '' },
      ]) {
        const { status, headers: answered, json } = await post(agent, path, body, { ...headers, ...given })
        assert.equal(status, 401)
        assert.match(answered.get('www-authenticate') ?? '', /^Bearer/)
        const error = way.binding === 'JSONRPC' || way.version === '1.0' ? json.error : json
        assert.equal(error.code, way.binding === 'HTTP+JSON' && way.version === '1.0' ? 401 : -32090)
      }
    })

    it(`is rejected before the body is read, in ${nameOf(way)}`, async () => {
      for (const nonsense of ['{', '[]', 'x'.repeat(100_000)]) {
        assert.equal((await post(agent, path, nonsense, headers)).status, 401)
      }
    })

    it(`is distinguished from one without permission, in ${nameOf(way)} [B-151]`, async () => {
      const {
        status,
        headers: answered,
        json,
      } = await post(agent, path, body, { ...headers, authorization: 'Bearer outsider' })
      assert.equal(status, 403)
      assert.equal(answered.get('www-authenticate'), null)
      const error = way.binding === 'JSONRPC' || way.version === '1.0' ? json.error : json
      assert.equal(error.code, way.binding === 'HTTP+JSON' && way.version === '1.0' ? 403 : -32091)
    })

    it(`is distinguished from an authenticated one, in ${nameOf(way)}`, async () => {
      const { body: mine } = sendRequest(way, newMessage(way, 'x'))
      const { status, text } = await post(agent, path, mine, { ...headers, authorization: 'Bearer ada' })
      assert.equal(status, 200)
      assert.match(text, /completed/i)
    })
  }
})
