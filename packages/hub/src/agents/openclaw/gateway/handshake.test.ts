import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refusalRetryMs, connectParams, refusalError } from './handshake.ts'
import { asFields } from './frames.ts'

const challenge = { nonce: 'N', ts: 5 }
const refusal = (code: string, details: object = {}) => ({
  code,
  message: 'at host-1',
  details: asFields(details),
  retryable: false,
})

describe('a request to be let in', () => {
  it('asks for no more than it needs', () => {
    const asked = connectParams(challenge, { credentials: { token: 'T' }, device: undefined, approvals: false })
    assert.deepEqual(asked['scopes'], ['operator.read', 'operator.write'])
    assert.deepEqual(asked['caps'], ['tool-events'])
    assert.deepEqual(asked['auth'], { token: 'T' })
    assert.deepEqual([asked['minProtocol'], asked['maxProtocol']], [3, 4])
    assert.equal('device' in asked, false)
  })

  it('requests approvals only if the hub answers them', () => {
    const asked = connectParams(challenge, { credentials: { password: 'P' }, device: undefined, approvals: true })
    assert.deepEqual(asked['scopes'], ['operator.read', 'operator.write', 'operator.approvals'])
    assert.deepEqual(asked['caps'], ['tool-events', 'exec-approvals'])
    assert.deepEqual(asked['auth'], { password: 'P' })
  })
})

describe('a refusal', () => {
  it('of an unapproved device names the command to run', () => {
    const error = refusalError(
      refusal('NOT_PAIRED', { code: 'PAIRING_REQUIRED', reason: 'not-paired', requestId: 'r-1' }),
    )
    assert.equal(error.code, 'AGENT_UNAVAILABLE')
    assert.match(
      error.message,
      /Run `openclaw devices approve r-1` where the gateway runs, then send the message again$/,
    )
  })

  it('for more scopes than were approved names them', () => {
    const error = refusalError(
      refusal('NOT_PAIRED', { code: 'PAIRING_REQUIRED', reason: 'scope-upgrade', requestId: 'r-2' }),
    )
    assert.match(error.message, /approved this hub for fewer scopes.*openclaw devices approve r-2/)
  })

  it("is reported without the gateway's own text", () => {
    for (const code of ['AUTH_TOKEN_MISMATCH', 'AUTH_PASSWORD_MISMATCH', 'AUTH_RATE_LIMITED', 'SOMETHING_NEW']) {
      const { message, cause } = refusalError(refusal('INVALID_REQUEST', { code }))
      assert.match(message, /^The OpenClaw gateway /)
      assert.doesNotMatch(message, /host-1/)
      assert.match(String(cause), /host-1/)
    }
  })

  it('only for now says when to come back', () => {
    assert.equal(refusalRetryMs({ ...refusal('UNAVAILABLE'), retryAfterMs: 70 }), 70)
    assert.equal(refusalRetryMs(refusal('UNAVAILABLE', { reason: 'startup-sidecars' })), 500)
    assert.equal(refusalRetryMs(refusal('UNAVAILABLE')), undefined)
    assert.equal(refusalRetryMs({ ...refusal('INVALID_REQUEST'), retryAfterMs: 70 }), undefined)
  })
})
