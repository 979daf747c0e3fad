/**
 * Signatures of cards between us and @a2a-js/sdk 1.3.0, both ways. Its bytes follow the rule (§8.4.1 of 1.0) except for
 * two things, each with tests below. It strips every empty value before it signs, where the rule keeps what is required
 * or was set: we verify that form as well, and it cannot verify ours of a card with a requirement that names no scopes.
 * And of a card in the form of its own objects it signs no security scheme at all, only of one in the form of JSON: such
 * a signature does not cover the schemes, so it is invalid.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AgentCard, canonicalizeAgentCard, generateAgentCardSignature, verifyAgentCardSignature } from 'a2a-sdk-1'
import { clearCardCache, connect, type ConnectOptions } from '@parley/a2a/client'
import type { CardSignature } from '@parley/a2a/internal'
import { memoryStore } from '@parley/a2a'
import { bearer, createHandler, type Handler, type HandlerOptions } from '@parley/a2a/server'
import { exportJWK, generateKeyPair, importJWK } from 'jose'
import type { JSONWebKeySet } from 'jose'

const publicUrl = 'https://ada.test'
const cardUrl = `${publicUrl}/.well-known/agent-card.json`
type Document = Record<string, unknown>

const full: Document = {
  name: 'Ada ✓ – 数学',
  description: 'Adds & "more"\n\t\u2028',
  version: '1.0.0',
  supportedInterfaces: [
    { url: `${publicUrl}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'ada.test:443', protocolBinding: 'GRPC', tenant: 'ada', protocolVersion: '1.0' },
  ],
  provider: { url: publicUrl, organization: 'Ada Inc.' },
  documentationUrl: `${publicUrl}/docs`,
  iconUrl: `${publicUrl}/icon.png`,
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [
      {
        uri: 'urn:x',
        description: 'X',
        required: true,
        params: { b: [1, 2.5, 1e21], a: 'z', '\ud83d\ude00': 1, '\ufb33': 2 },
      },
    ],
    extendedAgentCard: false,
  },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key', description: 'A key' } },
    http: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    code: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://id.test/a',
            tokenUrl: 'https://id.test/t',
            scopes: { use: 'Use it' },
            pkceRequired: true,
          },
        },
        oauth2MetadataUrl: 'https://id.test/m',
      },
    },
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.test/.well-known/openid-configuration' } },
    machine: { mtlsSecurityScheme: { description: 'A certificate' } },
  },
  securityRequirements: [{ schemes: { code: { list: ['use'] }, key: { list: ['x'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [
    {
      id: 'add',
      name: 'Add',
      description: 'Adds',
      tags: ['math'],
      examples: ['1 + 1'],
      inputModes: ['text/plain'],
      securityRequirements: [{ schemes: { code: { list: ['use'] } } }],
    },
  ],
}

/** Signed by the SDK, which is given the card as JSON. */
async function signedByThem(document: Document, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const sign = generateAgentCardSignature(privateKey, { alg, kid: 'theirs', typ: 'JOSE' })
  const signed = (await sign(document as unknown as AgentCard)) as unknown as Document
  const key = { ...(await exportJWK(publicKey)), kid: 'theirs', alg }
  return { signed, sign, options: { verify: 'require', trust: { keys: [key] } } as const satisfies ConnectOptions }
}

async function check(document: Document, options: ConnectOptions): Promise<CardSignature> {
  clearCardCache()
  const fetch = async (): Promise<Response> => Response.json(document)
  return (await connect(publicUrl, { fetch, ...options })).signature
}

/** A card of ours as served to any client, and its keys. */
async function ours(over: Partial<HandlerOptions>): Promise<{ card: Document; keys: JSONWebKeySet }> {
  const options = { store: memoryStore(), agent: () => 'x', publicUrl, signing: true, ...over } as HandlerOptions
  const handler: Handler = createHandler(options)
  const read = async (url: string, headers = {}): Promise<unknown> =>
    (await handler.fetch(new Request(url, { headers }))).json()
  const card = (await read(cardUrl, { 'a2a-version': '1.0' })) as Document
  const keys = (await read(`${publicUrl}/.well-known/jwks.json`)) as JSONWebKeySet
  await handler.close()
  return { card, keys }
}

function theirVerdict(card: Document, { keys }: JSONWebKeySet): Promise<void> {
  const verify = verifyAgentCardSignature(async (kid) => {
    const key = keys.find((one) => one.kid === kid)
    assert.ok(key !== undefined)
    return importJWK(key) as Promise<CryptoKey>
  })
  return verify(card as unknown as AgentCard)
}
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const settings = { name: 'Ada', description: 'Adds', skills: full['skills'] } as Partial<HandlerOptions>

describe('a card that @a2a-js/sdk 1.3.0 signs', () => {
  for (const alg of ['ES256', 'RS256', 'PS256', 'EdDSA']) {
    it(`is verified by us, ${alg} [B-30 B-31]`, async () => {
      const { signed, options } = await signedByThem(full, alg)
      assert.deepEqual(await check(signed, options), {
        status: 'verified',
        kid: 'theirs',
        alg,
        keys: 'given',
        form: 'canonical',
      })
    })
  }

  it('fails verification once any part of it is changed, schemes and requirements first [B-30 B-33]', async () => {
    const { signed, options } = await signedByThem(full)
    const schemes = full['securitySchemes'] as Document
    const changes: Document[] = [
      ...Object.keys(schemes).map((name) => ({
        securitySchemes: { ...schemes, [name]: { mtlsSecurityScheme: { description: 'x' } } },
      })),
      ...Object.keys(schemes).map((name) => ({ securitySchemes: { ...schemes, [name]: undefined } })),
      { securityRequirements: [] },
      { securityRequirements: [{ schemes: { code: { list: ['use'] } } }] },
      { supportedInterfaces: [{ url: 'https://evil.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
      ...Object.keys(full)
        .filter((name) => name !== 'supportedInterfaces')
        .map((name) => ({ [name]: typeof full[name] === 'string' ? 'x' : undefined })),
    ]
    for (const change of changes) {
      await assert.rejects(check({ ...signed, ...change }, options), /changed after signing/, JSON.stringify(change))
    }
  })

  it('in which a required value is empty is verified in its form, which is not that of the rule [B-30]', async () => {
    const { signed, options } = await signedByThem({ ...full, description: '', skills: [] })
    const found = await check({ ...signed, description: '', skills: [] }, options)
    assert.ok(found.status === 'verified' && found.form === 'stripped')
  })

  it('in the form of its own objects is signed without its schemes, which is not a valid signature [B-30 B-33]', async () => {
    const { sign, options } = await signedByThem(full)
    const own = AgentCard.fromJSON(full)
    assert.ok(Object.keys(own.securitySchemes).length > 0)
    assert.equal(canonicalizeAgentCard(own).includes('"securitySchemes"'), false)
    const sent = AgentCard.toJSON(await sign(own)) as Document
    await assert.rejects(check(sent, options), /changed after signing/)
    // The signature covers the card without them.
    const { securitySchemes: _, ...without } = sent
    assert.equal((await check(without, options)).status, 'verified')
  })

  it('does not sign a requirement without scopes: its removal goes unnoticed [B-30]', async () => {
    const requirements = [{ schemes: { http: { list: [] } } }]
    const { signed, options } = await signedByThem({ ...full, securityRequirements: requirements })
    assert.equal(canonicalizeAgentCard(signed as unknown as AgentCard).includes('"http":{}'), false)
    const { securityRequirements: _, ...without } = signed
    assert.equal((await check(without, options)).status, 'verified')
  })
})

describe('a card that we sign', () => {
  it('is verified by @a2a-js/sdk 1.3.0: without schemes, and with requirements that name scopes [B-29 B-30]', async () => {
    const open = await ours(settings)
    await theirVerdict(open.card, open.keys)
    const authenticate = bearer({ issuer: 'https://id.test', audience: 'ada', scopes: ['use'] })
    const guarded = await ours({ ...settings, authenticate })
    await theirVerdict(guarded.card, guarded.keys)
  })

  it('is refused by it once it is changed', async () => {
    const { card, keys } = await ours(settings)
    await assert.rejects(theirVerdict({ ...card, name: 'Eve' }, keys), /No valid signatures/)
  })

  it('with a requirement without scopes fails its verification: the rule keeps what it strips [B-30]', async () => {
    const authenticate = bearer({ issuer: 'https://id.test', audience: 'ada' })
    const { card, keys } = await ours({ ...settings, authenticate })
    await assert.rejects(theirVerdict(card, keys), /No valid signatures/)
    const trust = { keys: keys as { keys: { kty: string }[] } }
    assert.equal((await check(card, { verify: 'require', trust })).status, 'verified')
  })
})
