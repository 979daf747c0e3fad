import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { openKeyring } from '../../engine/keys/keyring.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createPushSigner } from './push-signer.ts'
import { sha256Hex } from '../keys/compare-secrets.ts'

const hour = 3_600_000
const day = 24 * hour

/** Two processes on one store, and a clock. */
function open(over: { rotateAfterMs?: number } = {}) {
  const store = memoryStore()
  let at = Date.now()
  const now = (): number => at
  const times = { lifetimeMs: 300_000, rotateAfterMs: 30 * day, overlapMs: hour, ...over }
  const create = () => {
    const opened = openKeyring(store.keys, undefined, now)
    return createPushSigner({ keyring: () => opened, issuer: 'https://hub.example.com', now, ...times })
  }
  return { one: create(), other: create(), store, pass: (ms: number) => void (at += ms), now }
}

const kidOf = (jwt: string): string | undefined => decodeProtectedHeader(jwt).kid

describe('the JWT of a notification', () => {
  it('is for one webhook, one task and one body, for five minutes, once [B-134]', async () => {
    const { one, now } = open()
    const jwt = await one.sign('https://hooks.example.com/a', 't1', '{"a":1}')
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      createLocalJWKSet({ keys: [...(await one.jwks()).keys] }),
      {
        issuer: 'https://hub.example.com',
        audience: 'https://hooks.example.com/a',
        algorithms: ['ES256'],
      },
    )
    assert.equal(payload['taskId'], 't1')
    assert.equal(payload['request_body_sha256'], await sha256Hex('{"a":1}'))
    const iat = Math.floor(now() / 1_000)
    assert.deepEqual([payload.iat, payload.exp], [iat, iat + 300])
    assert.match(payload.jti ?? '', /^[\da-f-]{36}$/)
    assert.equal(protectedHeader.alg, 'ES256')
    const another = await one.sign('https://hooks.example.com/a', 't1', '{"a":1}')
    assert.notEqual(another, jwt)
  })

  it('has the same key in every process, whose private half is not published [B-134]', async () => {
    const { one, other } = open()
    const [a, b] = [await one.sign('x', 't', ''), await other.sign('x', 't', '')]
    assert.equal(kidOf(a), kidOf(b))
    const { keys } = await other.jwks()
    assert.deepEqual(
      keys.map((key) => Object.keys(key).sort()),
      [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
    )
  })

  it('is signed by a new key only after its publication, and the old one stays as long [B-134]', async () => {
    const { one, other, pass } = open()
    const old = kidOf(await one.sign('x', 't', ''))
    await other.jwks()
    pass(1)
    await one.rotate()
    assert.equal(kidOf(await one.sign('x', 't', '')), old)
    pass(2 * 60_000)
    assert.equal((await other.jwks()).keys.length, 2)
    pass(hour)
    const young = kidOf(await other.sign('x', 't', ''))
    assert.notEqual(young, old)
    assert.equal((await one.jwks()).keys.length, 2)
    pass(2 * hour)
    assert.deepEqual(
      (await one.jwks()).keys.map(({ kid }) => kid),
      [young],
    )
  })

  it('rotates its key automatically when that is old [B-134]', async () => {
    const { one, pass } = open()
    const old = kidOf(await one.sign('x', 't', ''))
    pass(30 * day)
    assert.equal(kidOf(await one.sign('x', 't', '')), old)
    assert.equal((await one.jwks()).keys.length, 2)
    pass(hour)
    assert.notEqual(kidOf(await one.sign('x', 't', '')), old)
  })
})
