/** Signing keys for the operator: kept in the store, published with the others, and rotated with an overlap. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLocalJWKSet, jwtVerify, SignJWT, type JSONWebKeySet } from 'jose'
import { openKeyring } from '../../engine/keys/keyring.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openServers } from '../../testing/fixtures/test-server.ts'
import { createSigningKeys } from './signing-keys.ts'

const { open, get } = openServers()
const hour = 3_600_000

describe('keys for a purpose', () => {
  it('sign what others verify by the published key set, under names that begin with the purpose', async () => {
    const handler = open({ signingPurposes: ['hop', 'mail'] })
    const { kid, privateKey } = await handler.signingKeys('hop').signer()
    const token = await new SignJWT({ n: 1 }).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
    const { json } = await get(handler, '/.well-known/jwks.json')
    const { payload } = await jwtVerify(token, createLocalJWKSet(json as JSONWebKeySet))
    assert.deepEqual(payload, { n: 1 })
    const names = (json as { keys: { kid: string; d?: string }[] }).keys.map((key) => key.kid.split('.')[0])
    assert.deepEqual(names, ['hop', 'mail'])
    assert.ok(!JSON.stringify(json).includes('"d"'))
  })

  it('exist for the named purposes, and an empty key set is not published', async () => {
    const handler = open()
    assert.throws(() => handler.signingKeys('hop'), /signingPurposes does not list hop/)
    assert.equal((await get(handler, '/.well-known/jwks.json')).status, 404)
  })

  it('rotate with an overlap: a new one is published before it signs, an old one after it did', async () => {
    let at = Date.now()
    const keyring = openKeyring(memoryStore().keys, undefined, () => at)
    const times = { lifetimeMs: 300_000, rotateAfterMs: 24 * hour, overlapMs: hour }
    const keys = createSigningKeys({
      keyring: () => keyring,
      purpose: 'hop',
      kidPrefix: 'hop.',
      now: () => at,
      ...times,
    })
    const first = (await keys.signer()).kid
    at += 1
    await keys.rotate()
    assert.equal((await keys.signer()).kid, first)
    assert.equal((await keys.jwks()).keys.length, 2)
    at += hour
    const second = (await keys.signer()).kid
    assert.notEqual(second, first)
    assert.match(second, /^hop\./)
    assert.deepEqual(
      (await keys.jwks()).keys.map(({ kid }) => kid),
      [first, second],
    )
    at += 3 * hour
    assert.deepEqual(
      (await keys.jwks()).keys.map(({ kid }) => kid),
      [second],
    )
  })
})
