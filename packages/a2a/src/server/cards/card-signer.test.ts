import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from 'jose'
import type { AgentCardSignature } from '../../model/card.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { signedReadings } from '../../versions/signed-card.ts'
import { type Handler, ConfigError, createHandler } from '../index.ts'

const { open, get, post } = openServers()
const publicUrl = 'https://ada.test'
const cardPath = '/.well-known/agent-card.json'
const modern = { 'a2a-version': '1.0' }

const headerOf = ({ protected: header }: AgentCardSignature): Record<string, unknown> =>
  JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>

async function keysOf(handler: Handler): Promise<JSONWebKeySet> {
  const { status, headers, json } = await get(handler, '/.well-known/jwks.json')
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /json/)
  return json as JSONWebKeySet
}

/** Verifies as a third party would: with jose and the published keys only. */
async function verify(document: Record<string, unknown>, keys: JSONWebKeySet, at = 0): Promise<void> {
  const signature = (document['signatures'] as AgentCardSignature[])[at] as AgentCardSignature
  const [reading] = signedReadings(document)
  const payload = Buffer.from(reading?.text ?? '').toString('base64url')
  await flattenedVerify({ ...signature, payload }, createLocalJWKSet(keys))
}

describe('a card of ours', () => {
  it('is signed under a published key, ES256, with its id and address [B-29 B-31]', async () => {
    const handler = open({ signing: true, publicUrl, name: 'Ada' })
    const { json } = await get(handler, cardPath, modern)
    const keys = await keysOf(handler)
    const [key] = keys.keys
    assert.deepEqual(headerOf(json.signatures[0]), {
      alg: 'ES256',
      kid: key?.kid,
      typ: 'JOSE',
      jku: 'https://ada.test/.well-known/jwks.json',
    })
    assert.deepEqual(Object.keys(key ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    await verify(json, keys)
  })

  it('is signed for clients of 1.0, by its 1.0 view, and not for versions without a rule [B-29 B-34]', async () => {
    const securitySchemes = { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } }
    const handler = open({
      signing: true,
      publicUrl,
      securitySchemes,
      securityRequirements: [{ schemes: { token: { list: [] } } }],
    })
    const keys = await keysOf(handler)
    const merged = (await get(handler, cardPath)).json
    assert.equal(merged.url, 'https://ada.test/a2a')
    await verify(merged, keys)
    for (const version of ['0.3', '0.2']) {
      assert.equal((await get(handler, cardPath, { 'a2a-version': version })).json.signatures, undefined)
    }
    assert.equal((await get(handler, '/.well-known/agent.json')).json.signatures, undefined)
  })

  it('fails verification with a changed scheme, requirement, interface or skill [B-30 B-34]', async () => {
    const securitySchemes = { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } }
    const securityRequirements = [{ schemes: { token: { list: [] } } }]
    const handler = open({ signing: true, publicUrl, securitySchemes, securityRequirements })
    const keys = await keysOf(handler)
    const { json } = await get(handler, cardPath, modern)
    for (const change of [
      { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Basic' } } } },
      { securitySchemes: {} },
      { securityRequirements: [] },
      { supportedInterfaces: [{ ...json.supportedInterfaces[0], url: 'https://evil.test/a2a' }] },
      { skills: [] },
      { name: 'Eve' },
    ]) {
      await assert.rejects(verify({ ...json, ...change }, keys), /signature verification failed/)
    }
  })

  it('is signed once and not per request: the same bytes and the same tag [B-23 B-29]', async () => {
    const handler = open({ signing: true, publicUrl })
    const first = await get(handler, cardPath, modern)
    const again = await get(handler, cardPath, modern)
    // ECDSA never makes the same signature twice.
    assert.deepEqual(again.json.signatures, first.json.signatures)
    assert.equal(again.headers.get('etag'), first.headers.get('etag'))
    const tag = first.headers.get('etag') ?? ''
    assert.equal((await get(handler, cardPath, { ...modern, 'if-none-match': tag })).status, 304)
    const together = await Promise.all([1, 2, 3].map(() => get(handler, cardPath)))
    assert.equal(new Set(together.map(({ json }) => JSON.stringify(json.signatures))).size, 1)
  })

  it('is signed as the extended card, the same for the same caller [B-29 B-138]', async () => {
    const authenticate = () => ({ id: 'ann' })
    const handler = open({ signing: true, publicUrl, authenticate, extendedCard: { description: 'More' } })
    const ask = () => post(handler, rpc('GetExtendedAgentCard'), modern)
    const { json } = await ask()
    assert.equal(json.result.description, 'More')
    await verify(json.result, await keysOf(handler))
    assert.deepEqual((await ask()).json.result.signatures, json.result.signatures)
  })

  it('keeps its key over a restart, for all servers that share the store [B-29]', async () => {
    const store = memoryStore()
    const shared = { ...store, close: async () => {} }
    const [one, other] = [1, 2].map(() =>
      createHandler({ store: shared, agent: () => 'x', signing: true, publicUrl }),
    ) as [Handler, Handler]
    try {
      const keys = await keysOf(one)
      assert.deepEqual(await keysOf(other), keys)
      await verify((await get(other, cardPath, modern)).json, keys)
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  })

  it('is signed by the new and the previous key after a rotation; older ones are removed [B-32]', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    const handler = open({ signing: true, publicUrl })
    const kids = async (): Promise<unknown[]> => {
      t.mock.timers.tick(120_000)
      const { json } = await get(handler, cardPath, modern)
      const keys = await keysOf(handler)
      for (const index of json.signatures.keys()) await verify(json, keys, index)
      assert.deepEqual(
        new Set(keys.keys.map(({ kid }) => kid)),
        new Set(json.signatures.map((one: AgentCardSignature) => headerOf(one)['kid'])),
      )
      return json.signatures.map((one: AgentCardSignature) => headerOf(one)['kid'])
    }
    const [first] = await kids()
    t.mock.timers.tick(1)
    await handler.rotateCardKey?.()
    const [second, before] = await kids()
    assert.equal(before, first)
    assert.notEqual(second, first)
    await handler.rotateCardKey?.()
    const third = await kids()
    assert.deepEqual([third.length, third[1]], [2, second])
  })

  it('rotates its keys at the configured interval, and reports the time [B-32]', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    const handler = open({ signing: { rotateAfterMs: 3_600_000 }, publicUrl })
    const before = await get(handler, cardPath, modern)
    t.mock.timers.tick(3_600_000)
    const after = await get(handler, cardPath, modern)
    assert.equal(after.json.signatures.length, 2)
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
    const since = { ...modern, 'if-modified-since': before.headers.get('last-modified') ?? '' }
    assert.equal((await get(handler, cardPath, since)).status, 200)
  })
})

describe('a key for cards', () => {
  const pem = (type: 'ec' | 'rsa' | 'ed25519'): string => {
    const { privateKey } =
      type === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : type === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 2048 })
          : generateKeyPairSync('ed25519')
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }

  it('may be given as PEM, also with joined lines as in an environment variable, or as a JWK [B-29]', async () => {
    const ec = pem('ec')
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ format: 'jwk' })
    const given = [
      [ec, 'ES256'],
      [ec.replaceAll('\n', '\\n'), 'ES256'],
      [pem('rsa'), 'RS256'],
      [pem('ed25519'), 'EdDSA'],
      [jwk, 'ES384'],
      [JSON.stringify(jwk), 'ES384'],
    ] as const
    for (const [key, alg] of given) {
      const handler = open({ signing: { key: key as string, kid: 'mine', jku: false }, publicUrl })
      const { json } = await get(handler, cardPath, modern)
      assert.deepEqual(headerOf(json.signatures[0]), { alg, kid: 'mine', typ: 'JOSE' })
      const keys = await keysOf(handler)
      assert.equal(JSON.stringify(keys).includes('"d"'), false)
      await verify(json, keys)
      assert.equal(handler.rotateCardKey, undefined)
    }
  })

  it('stays published and signs beside its successor as the previous key [B-32]', async () => {
    const handler = open({ signing: { key: pem('ec'), previous: [pem('ed25519')] }, publicUrl })
    const { json } = await get(handler, cardPath, modern)
    const keys = await keysOf(handler)
    assert.deepEqual(
      keys.keys.map(({ alg }) => alg),
      ['ES256', 'EdDSA'],
    )
    await verify(json, keys, 0)
    await verify(json, keys, 1)
  })

  it('that is invalid is named at the start [B-29]', async () => {
    const publicJwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
    const wrong = ['', 'x', '{', '{"kty":"oct","k":"c2VjcmV0"}', JSON.stringify(publicJwk)]
    for (const key of wrong) {
      const handler = open({ signing: { key }, publicUrl })
      await assert.rejects(
        handler.ready,
        (error: unknown) => error instanceof ConfigError && error.path === 'signing.key',
      )
    }
    assert.throws(() => open({ signing: { alg: 'ES256' }, publicUrl }), /signing\.key/)
    assert.throws(() => open({ signing: { key: pem('ec'), rotateAfterMs: 1 }, publicUrl }), /signing\.rotateAfterMs/)
  })

  it('signs no address taken from a request: signing requires a configured one [B-34]', async () => {
    assert.throws(() => open({ signing: true }), /signing: requires publicUrl/)
    assert.throws(() => open({ signing: true, hosts: ['ada.test'], trustProxy: true }), /signing: requires publicUrl/)
    const listed = open({ signing: true, hosts: ['localhost'] })
    assert.equal((await get(listed, cardPath, modern)).json.signatures.length, 1)
    const named = open({ signing: true, publicUrl })
    const { json } = await get(named, cardPath, { ...modern, host: 'evil.test' })
    assert.equal(json.supportedInterfaces[0].url, 'https://ada.test/a2a')
  })

  it('is published below the mount path of the handler, once for all its agents [B-31]', async () => {
    const agents = { ada: () => 'x', bob: () => 'y' }
    const options = { store: memoryStore(), agents, publicUrl: 'https://host.test', prefix: '/agents', signing: true }
    const handler = createHandler(options)
    const read = async (path: string): Promise<Record<string, unknown>> => {
      const response = await handler.fetch(new Request(`https://host.test/agents${path}`, { headers: modern }))
      return (await response.json()) as Record<string, unknown>
    }
    const keys = (await read('/.well-known/jwks.json')) as unknown as JSONWebKeySet
    for (const name of ['ada', 'bob']) {
      const card = await read(`/a2a/${name}${cardPath}`)
      const [signature] = card['signatures'] as [AgentCardSignature]
      assert.equal(headerOf(signature)['jku'], 'https://host.test/agents/.well-known/jwks.json')
      await verify(card, keys)
    }
    await handler.close()
  })

  it('is absent if nothing is signed: there is no key set', async () => {
    assert.equal((await get(open(), '/.well-known/jwks.json')).status, 404)
  })
})
