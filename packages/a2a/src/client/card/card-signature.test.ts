import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { bearer, type AgentSettings, type Handler, type ServerOptions } from '../../server/index.ts'
import {
  cardUrl,
  type CardDocument,
  trustKey,
  jwksUrl,
  unsignedCard,
  publicUrl,
  isSignatureError,
  createTestCardSigner,
  createDocumentServer,
} from '../../testing/fixtures/card-signers.ts'
import { openServers } from '../../testing/fixtures/test-server.ts'
import { canonicalJson } from '../../versions/canonical-json.ts'
import { clearCardCache, discover } from './card-discovery.ts'
import { connect } from '../connect.ts'
import type { ConnectOptions, Fetch } from '../contract.ts'
import { invoke } from '../invoke.ts'

const { open } = openServers()
beforeEach(clearCardCache)

const opened = (over: ServerOptions & Partial<AgentSettings> = {}): Handler =>
  open({ signing: true, publicUrl, name: 'Ada', ...over })

async function documentOf(handler: Handler): Promise<CardDocument> {
  const response = await handler.fetch(new Request(cardUrl, { headers: { 'a2a-version': '1.0' } }))
  return (await response.json()) as CardDocument
}

describe('a signed card', () => {
  it('is verified by the keys of its own origin, and reports it [B-31 B-32]', async () => {
    const { fetch, asked, urls } = createDocumentServer(opened())
    const agent = await connect(publicUrl, { fetch, verify: 'require', bearer: 'secret' })
    const { signature } = agent
    assert.ok(signature.status === 'verified')
    assert.deepEqual([signature.alg, signature.keys, signature.form], ['ES256', jwksUrl, 'canonical'])
    assert.deepEqual(urls(), [cardUrl, jwksUrl])
    // Key requests carry no credentials.
    assert.equal(asked[1]?.headers.get('authorization'), null)
    assert.equal(await agent.ask('you'), 'Hello, you!')
  })

  it('is not checked by default, and nothing is fetched for it', async () => {
    const { fetch, urls } = createDocumentServer(opened())
    const agent = await connect(publicUrl, { fetch })
    assert.deepEqual(agent.signature, { status: 'unchecked' })
    assert.deepEqual(urls(), [cardUrl])
  })

  it('never verifies with a changed security scheme, under any policy but off [B-30 B-33]', async () => {
    const handler = opened({ authenticate: bearer({ issuer: 'https://id.test', audience: 'ada' }) })
    const document = await documentOf(handler)
    const changes: CardDocument[] = [
      { securitySchemes: { bearer: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://evil.test' } } } },
      { securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } },
      { securitySchemes: { ...(document['securitySchemes'] as object), more: { mtlsSecurityScheme: {} } } },
      { securitySchemes: undefined },
      { securityRequirements: undefined },
      { securityRequirements: [] },
      { securityRequirements: [{ schemes: {} }] },
      { securityRequirements: [{ schemes: { bearer: { list: ['admin'] } } }] },
    ]
    for (const change of changes) {
      clearCardCache()
      const { fetch } = createDocumentServer(handler, { [cardUrl]: { ...document, ...change } })
      for (const verify of ['warn', 'require'] as const) {
        await assert.rejects(connect(publicUrl, { fetch, verify }), isSignatureError(/changed after signing/))
      }
      assert.equal((await connect(publicUrl, { fetch })).card.name, 'Ada')
    }
  })

  it('is trusted only in its signed fields [B-31 B-34]', async () => {
    const handler = opened()
    const document = await documentOf(handler)
    const added = {
      security: [{ evil: [] }],
      security_schemes: { evil: { mtlsSecurityScheme: {} } },
      url: 'https://evil.test',
      supportsAuthenticatedExtendedCard: true,
      supported_interfaces: [{ url: 'https://evil.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }
    const { fetch } = createDocumentServer(handler, { [cardUrl]: { ...document, ...added } })
    const { card, signature } = await connect(publicUrl, { fetch, verify: 'require' })
    assert.equal(signature.status, 'verified')
    assert.deepEqual([card.securityRequirements, card.securitySchemes], [undefined, undefined])
    assert.equal(card.capabilities.extendedAgentCard, undefined)
    assert.ok(card.supportedInterfaces.every(({ url }) => url.startsWith(publicUrl)))
    // Without verification, the card is accepted.
    clearCardCache()
    assert.equal((await connect(publicUrl, { fetch })).card.securityRequirements?.length, 1)
  })

  it('for clients of every version is verified by its 1.0 view [B-34]', async () => {
    const handler = opened()
    const merged = await (await handler.fetch(new Request(cardUrl))).json()
    assert.equal((merged as CardDocument)['url'], 'https://ada.test/a2a')
    const { fetch } = createDocumentServer(handler, { [cardUrl]: merged as object })
    assert.equal((await connect(publicUrl, { fetch, verify: 'require' })).signature.status, 'verified')
  })

  it('is requested in 1.0 by clients that use 0.3, which has no rule for it [B-31]', async () => {
    const { fetch, asked } = createDocumentServer(opened())
    const agent = await connect(publicUrl, { fetch, verify: 'require', version: '0.3' })
    assert.equal(asked[0]?.headers.get('a2a-version'), '1.0')
    assert.deepEqual([agent.signature.status, agent.interface.version], ['verified', '0.3'])
    assert.equal(await agent.ask('you'), 'Hello, you!')
  })

  it('is valid in the forms that other signers use, and the form is reported [B-30 B-31]', async () => {
    const { jwk, signed } = await createTestCardSigner()
    const empty = { ...unsignedCard, description: '', extra: { a: 1 } }
    const { description: _, extra: __, capabilities: ___, ...stripped }: CardDocument = empty
    const forms = {
      canonical: await signed(empty),
      stripped: await signed(empty, {}, canonicalJson(stripped)),
      raw: await signed(empty, {}, canonicalJson(empty)),
    }
    for (const [form, document] of Object.entries(forms)) {
      const agent = await connect(document as never, { verify: 'require', trust: trustKey(jwk) })
      assert.ok(agent.signature.status === 'verified')
      assert.deepEqual([agent.signature.form, agent.signature.keys], [form, 'given'])
    }
  })

  it('may be signed by any algorithm with a public key that is allowed, and by no other [B-32]', async () => {
    for (const alg of ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256']) {
      const { jwk, signed } = await createTestCardSigner(alg)
      const agent = await connect((await signed(unsignedCard)) as never, { verify: 'require', trust: trustKey(jwk) })
      assert.equal(agent.signature.status, 'verified', alg)
      const trust = { ...trustKey(jwk), algorithms: ['Ed25519'] }
      await assert.rejects(
        connect((await signed(unsignedCard)) as never, { verify: 'require', trust }),
        isSignatureError(/algorithm/),
      )
    }
    const { jwk, signed } = await createTestCardSigner('ES512')
    await assert.rejects(
      connect((await signed(unsignedCard)) as never, { verify: 'require', trust: trustKey(jwk) }),
      isSignatureError(/algorithm is not accepted: ES512/),
    )
  })

  it('cannot bypass the check: no algorithm, a shared secret, critical headers, another key type [B-32]', async () => {
    const { jwk, sign } = await createTestCardSigner()
    const { signature } = await sign(unsignedCard)
    const header = (over: object): string =>
      Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'k1', ...over })).toString('base64url')
    const tricks: readonly [object, RegExp][] = [
      [{ alg: 'none' }, /algorithm/],
      [{ alg: 'HS256' }, /algorithm/],
      [{ alg: 'constructor' }, /algorithm/],
      [{ alg: ['ES256'] }, /algorithm/],
      [{ alg: 'RS256' }, /not valid for cards/],
      [{ kid: undefined }, /names no key/],
      [{ kid: 7 }, /names no key/],
      [{ crit: ['b64'], b64: false }, /unsupported extension/],
      [{}, /changed after signing/],
    ]
    for (const [over, why] of tricks) {
      const document = { ...unsignedCard, signatures: [{ protected: header(over), signature }] }
      await assert.rejects(
        connect(document as never, { verify: 'require', trust: trustKey(jwk) }),
        isSignatureError(why),
      )
    }
    for (const odd of [
      '',
      '!',
      'e30',
      Buffer.from('null').toString('base64url'),
      Buffer.from([0xff]).toString('base64url'),
    ]) {
      const document = {
        ...unsignedCard,
        signatures: [{ protected: odd === '' ? 'x' : odd, signature: odd === '!' ? '!' : signature }],
      }
      await assert.rejects(connect(document as never, { verify: 'require', trust: trustKey(jwk) }), A2AError)
    }
  })

  it('is valid if one of its signatures is, whatever the others are [B-32]', async () => {
    const [ours, theirs] = [await createTestCardSigner('ES256', 'ours'), await createTestCardSigner('EdDSA', 'theirs')]
    const wrong = await ours.sign({ ...unsignedCard, name: 'Eve' })
    const signatures = [await theirs.sign(unsignedCard), wrong, await ours.sign(unsignedCard)]
    const agent = await connect({ ...unsignedCard, signatures } as never, {
      verify: 'require',
      trust: trustKey(ours.jwk),
    })
    assert.ok(agent.signature.status === 'verified' && agent.signature.kid === 'ours')
  })
})

describe('the policy', () => {
  it('`require` refuses a card that is unsigned or has an unknown key [B-33]', async () => {
    const options: ConnectOptions = { ...createDocumentServer(open({ publicUrl })), verify: 'require' }
    await assert.rejects(connect(publicUrl, options), isSignatureError(/it is not signed/))
    assert.equal(await discover(publicUrl, options), null)
    assert.deepEqual((await invoke(publicUrl, 'hi', options)).success, false)
    const { signed } = await createTestCardSigner()
    await assert.rejects(
      connect((await signed(unsignedCard)) as never, { verify: 'require' }),
      isSignatureError(/does not name the URL of its key/),
    )
  })

  it('`require` does not fall back for an agent without interfaces [B-33]', async () => {
    const { fetch, urls } = createDocumentServer(undefined, { [cardUrl]: { name: 'Ada', version: '1' } })
    const { success, error } = await invoke(publicUrl, 'hi', { fetch, verify: 'require' })
    assert.deepEqual([success, urls().some((url) => url.includes('/tasks'))], [false, false], error)
  })

  it('`warn` accepts both and logs a warning [B-33]', async () => {
    const warnings: string[] = []
    const log = { warn: (message: string) => void warnings.push(message) }
    const unsigned = await connect(publicUrl, { ...createDocumentServer(open({ publicUrl })), verify: 'warn', log })
    assert.deepEqual(unsigned.signature, { status: 'unsigned' })
    const { signed } = await createTestCardSigner()
    const unknown = await connect((await signed(unsignedCard)) as never, { verify: 'warn', log })
    assert.deepEqual(unknown.signature, { status: 'unverified', why: 'it does not name the URL of its key' })
    assert.deepEqual(warnings, [
      'Using an agent card although it is not signed',
      'Using an agent card although its signature cannot be checked: it does not name the URL of its key',
    ])
  })

  it('applies to the extended card, which replaces the other [B-33 B-139]', async () => {
    const authenticate = bearer({ verify: () => ({ id: 'ann' }) })
    const handler = opened({ authenticate, extendedCard: { description: 'More' } })
    const { fetch } = createDocumentServer(handler)
    const agent = await connect(publicUrl, { fetch, verify: 'require', bearer: 't' })
    assert.equal((await agent.extendedCard()).description, 'More')
    assert.equal(agent.signature.status, 'verified')

    const strip: Fetch = async (request) => {
      const response = await fetch(request)
      const text = await response.text()
      const changed = text.replace('More', 'Less')
      return new Response(changed, response)
    }
    clearCardCache()
    const betrayed = await connect(publicUrl, { fetch: strip, verify: 'require', bearer: 't' })
    await assert.rejects(betrayed.extendedCard(), isSignatureError(/changed after signing/))
    assert.notEqual(betrayed.card.description, 'Less')
  })

  it('verifies cards of 0.x only by the whole document, for which they have no rule', async () => {
    const { jwk, signed } = await createTestCardSigner()
    const old = { name: 'Ada', description: '', version: '1', url: 'https://ada.test/a2a', protocolVersion: '0.3.0' }
    const trust = trustKey(jwk)
    const whole = await signed(old, {}, canonicalJson(old))
    assert.equal((await connect(whole as never, { verify: 'require', trust })).signature.status, 'verified')
    // A signature that does not cover the URL does not count.
    await assert.rejects(
      connect((await signed(old)) as never, { verify: 'require', trust }),
      isSignatureError(/changed/),
    )
  })
})
