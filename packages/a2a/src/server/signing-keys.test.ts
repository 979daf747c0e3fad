/** Keys of a server for what whoever runs it signs: kept in its store, published beside the others, and changed with a notice. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose'
import type { JSONWebKeySet } from 'jose'
import { openKeyring } from '../engine/keyring.ts'
import { memoryStore } from '../stores/memory.ts'
import { openServers } from '../testing/server-fixture.ts'
import { createSigningKeys } from './signing-keys.ts'

const { open, get } = openServers()
const hour = 3_600_000

describe('keys for a purpose', () => {
  it('sign what others verify by the published list, under names that begin with the purpose', async () => {
    const handler = open({ signsFor: ['hop', 'mail'] })
    const { kid, privateKey } = await handler.keys('hop').signer()
    const token = await new SignJWT({ n: 1 }).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
    const { json } = await get(handler, '/.well-known/jwks.json')
    const { payload } = await jwtVerify(token, createLocalJWKSet(json as JSONWebKeySet))
    assert.deepEqual(payload, { n: 1 })
    const names = (json as { keys: { kid: string; d?: string }[] }).keys.map((key) => key.kid.split('.')[0])
    assert.deepEqual(names, ['hop', 'mail'])
    assert.ok(!JSON.stringify(json).includes('"d"'))
  })

  it('are there for those that were named, and no list is without any', async () => {
    const handler = open()
    assert.throws(() => handler.keys('hop'), /signsFor does not list hop/)
    assert.equal((await get(handler, '/.well-known/jwks.json')).status, 404)
  })

  it('change with a notice: a new one is published before it signs, an old one after it did', async () => {
    let at = Date.now()
    const keyring = openKeyring(memoryStore(), undefined, () => at)
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
