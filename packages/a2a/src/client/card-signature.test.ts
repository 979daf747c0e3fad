import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { exportJWK, FlattenedSign, generateKeyPair } from 'jose'
import type { CryptoKey, JWK } from 'jose'
import { A2AError } from '../model/error.ts'
import { openServers } from '../testing/server-fixture.ts'
import type { Handler, HouseOptions } from '../server/index.ts'
import { bearer } from '../server/index.ts'
import { canonicalJson } from '../versions/canonical-json.ts'
import { signedView } from '../versions/signed-card.ts'
import { clearCardCache, discover } from './card.ts'
import { connect } from './connect.ts'
import type { CardTrust, ConnectOptions, Fetch } from './contract.ts'
import { invoke } from './invoke.ts'

const { open } = openServers()
beforeEach(clearCardCache)

const publicUrl = 'https://ada.test'
type Document = Record<string, unknown>

/** The web as far as these tests know it: what is asked for is kept, and a document may be exchanged on the way. */
function web(handler: Handler | undefined, documents: { readonly [url: string]: object | Response | undefined } = {}) {
  const asked: Request[] = []
  const fetch: Fetch = async (request) => {
    asked.push(request)
    const found = documents[request.url]
    if (found instanceof Response) return found.clone()
    if (found !== undefined) return Response.json(found)
    return handler === undefined ? new Response('', { status: 404 }) : handler.fetch(request)
  }
  return { fetch, asked, urls: () => asked.map(({ url }) => url) }
}

const cardUrl = `${publicUrl}/.well-known/agent-card.json`
const jwksUrl = `${publicUrl}/.well-known/jwks.json`

async function documentOf(handler: Handler): Promise<Document> {
  const response = await handler.fetch(new Request(cardUrl, { headers: { 'a2a-version': '1.0' } }))
  return (await response.json()) as Document
}

const plain: Document = {
  name: 'Ada',
  description: 'Adds',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://ada.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'add', name: 'Add', description: 'Adds', tags: ['math'] }],
}

/** Somebody who signs, with a key of any kind, whatever is to be signed. */
async function signerOf(alg = 'ES256', kid = 'k1') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg }
  const sign = async (document: Document, header: object = {}, text = canonicalJson(signedView(document))) => {
    const protectedHeader = { alg, kid, typ: 'JOSE', ...header }
    const made = await new FlattenedSign(new TextEncoder().encode(text))
      .setProtectedHeader(protectedHeader)
      .sign(privateKey)
    return { protected: made.protected ?? '', signature: made.signature }
  }
  return {
    jwk,
    privateKey: privateKey as CryptoKey,
    sign,
    signed: async (document: Document, header?: object, text?: string): Promise<Document> => ({
      ...document,
      signatures: [await sign(document, header, text)],
    }),
  }
}
const given = (key: JWK): CardTrust => ({ keys: [key as never] })

const refuses =
  (why: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof A2AError, String(error))
    assert.deepEqual([error.code, error.details['reason']], ['INVALID_AGENT_RESPONSE', 'CARD_SIGNATURE'], error.message)
    assert.match(error.message, why)
    return true
  }
const opened = (over: HouseOptions = {}): Handler => open({ signing: true, publicUrl, name: 'Ada', ...over })

describe('a signed card', () => {
  it('is verified by the keys that its own origin publishes, and says so [B-31 B-32]', async () => {
    const { fetch, asked, urls } = web(opened())
    const agent = await connect(publicUrl, { fetch, verify: 'require', bearer: 'secret' })
    const { signature } = agent
    assert.ok(signature.status === 'verified')
    assert.deepEqual([signature.alg, signature.keys, signature.form], ['ES256', jwksUrl, 'canonical'])
    assert.deepEqual(urls(), [cardUrl, jwksUrl])
    // Who we are is not the keys' business.
    assert.equal(asked[1]?.headers.get('authorization'), null)
    assert.equal(await agent.ask('you'), 'Hello, you!')
  })

  it('is not checked unless somebody asks, and nothing is fetched for it', async () => {
    const { fetch, urls } = web(opened())
    const agent = await connect(publicUrl, { fetch })
    assert.deepEqual(agent.signature, { status: 'unchecked' })
    assert.deepEqual(urls(), [cardUrl])
  })

  it('never verifies with a changed security scheme, under any policy but off [B-30 B-33]', async () => {
    const handler = opened({ authenticate: bearer({ issuer: 'https://id.test', audience: 'ada' }) })
    const document = await documentOf(handler)
    const changes: Document[] = [
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
      const { fetch } = web(handler, { [cardUrl]: { ...document, ...change } })
      for (const verify of ['warn', 'require'] as const) {
        await assert.rejects(connect(publicUrl, { fetch, verify }), refuses(/changed after it was signed/))
      }
      assert.equal((await connect(publicUrl, { fetch })).card.name, 'Ada')
    }
  })

  it('is believed in what was signed, and in nothing that was added beside it [B-31 B-34]', async () => {
    const handler = opened()
    const document = await documentOf(handler)
    const added = {
      security: [{ evil: [] }],
      security_schemes: { evil: { mtlsSecurityScheme: {} } },
      url: 'https://evil.test',
      supportsAuthenticatedExtendedCard: true,
      supported_interfaces: [{ url: 'https://evil.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }
    const { fetch } = web(handler, { [cardUrl]: { ...document, ...added } })
    const { card, signature } = await connect(publicUrl, { fetch, verify: 'require' })
    assert.equal(signature.status, 'verified')
    assert.deepEqual([card.securityRequirements, card.securitySchemes], [undefined, undefined])
    assert.equal(card.capabilities.extendedAgentCard, undefined)
    assert.ok(card.supportedInterfaces.every(({ url }) => url.startsWith(publicUrl)))
    // Without a check, they are read.
    clearCardCache()
    assert.equal((await connect(publicUrl, { fetch })).card.securityRequirements?.length, 1)
  })

  it('for readers of every version is verified by its 1.0 view [B-34]', async () => {
    const handler = opened()
    const merged = await (await handler.fetch(new Request(cardUrl))).json()
    assert.equal((merged as Document)['url'], 'https://ada.test/a2a')
    const { fetch } = web(handler, { [cardUrl]: merged as object })
    assert.equal((await connect(publicUrl, { fetch, verify: 'require' })).signature.status, 'verified')
  })

  it('is found to be good in the forms that other signers have, which is told [B-30 B-31]', async () => {
    const { jwk, signed } = await signerOf()
    const empty = { ...plain, description: '', extra: { a: 1 } }
    const { description: _, extra: __, capabilities: ___, ...stripped }: Document = empty
    const forms = {
      canonical: await signed(empty),
      stripped: await signed(empty, {}, canonicalJson(stripped)),
      raw: await signed(empty, {}, canonicalJson(empty)),
    }
    for (const [form, document] of Object.entries(forms)) {
      const agent = await connect(document as never, { verify: 'require', trust: given(jwk) })
      assert.ok(agent.signature.status === 'verified')
      assert.deepEqual([agent.signature.form, agent.signature.keys], [form, 'given'])
    }
  })

  it('may be signed by any algorithm with a public key that is allowed, and by no other [B-32]', async () => {
    for (const alg of ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256']) {
      const { jwk, signed } = await signerOf(alg)
      const agent = await connect((await signed(plain)) as never, { verify: 'require', trust: given(jwk) })
      assert.equal(agent.signature.status, 'verified', alg)
      const trust = { ...given(jwk), algorithms: ['Ed25519'] }
      await assert.rejects(connect((await signed(plain)) as never, { verify: 'require', trust }), refuses(/algorithm/))
    }
    const { jwk, signed } = await signerOf('ES512')
    await assert.rejects(
      connect((await signed(plain)) as never, { verify: 'require', trust: given(jwk) }),
      refuses(/algorithm is none that is accepted: ES512/),
    )
  })

  it('cannot talk its way past the check: no algorithm, a shared secret, what is critical, another key’s kind [B-32]', async () => {
    const { jwk, sign } = await signerOf()
    const { signature } = await sign(plain)
    const header = (over: object): string =>
      Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'k1', ...over })).toString('base64url')
    const tricks: readonly [object, RegExp][] = [
      [{ alg: 'none' }, /algorithm/],
      [{ alg: 'HS256' }, /algorithm/],
      [{ alg: 'constructor' }, /algorithm/],
      [{ alg: ['ES256'] }, /algorithm/],
      [{ alg: 'RS256' }, /not good for this/],
      [{ kid: undefined }, /which key/],
      [{ kid: 7 }, /which key/],
      [{ crit: ['b64'], b64: false }, /not understood/],
      [{}, /changed after it was signed/],
    ]
    for (const [over, why] of tricks) {
      const document = { ...plain, signatures: [{ protected: header(over), signature }] }
      await assert.rejects(connect(document as never, { verify: 'require', trust: given(jwk) }), refuses(why))
    }
    for (const odd of [
      '',
      '!',
      'e30',
      Buffer.from('null').toString('base64url'),
      Buffer.from([0xff]).toString('base64url'),
    ]) {
      const document = {
        ...plain,
        signatures: [{ protected: odd === '' ? 'x' : odd, signature: odd === '!' ? '!' : signature }],
      }
      await assert.rejects(connect(document as never, { verify: 'require', trust: given(jwk) }), A2AError)
    }
  })

  it('is good if one of its signatures is, whatever the others are [B-32]', async () => {
    const [ours, theirs] = [await signerOf('ES256', 'ours'), await signerOf('EdDSA', 'theirs')]
    const wrong = await ours.sign({ ...plain, name: 'Eve' })
    const signatures = [await theirs.sign(plain), wrong, await ours.sign(plain)]
    const agent = await connect({ ...plain, signatures } as never, { verify: 'require', trust: given(ours.jwk) })
    assert.ok(agent.signature.status === 'verified' && agent.signature.kid === 'ours')
  })
})

describe('whose keys count', () => {
  it('are not those that a stranger’s signature leads to: nobody goes there [B-31 B-33]', async () => {
    const eve = await signerOf('ES256', 'eve')
    const places = [
      'https://evil.test/keys',
      'http://ada.test/keys',
      'https://ada.test.evil.test/keys',
      'https://ada.test:444/keys',
      'file:///keys',
      'data:application/json,{}',
      'nonsense',
    ]
    for (const jku of places) {
      clearCardCache()
      const document = await eve.signed(plain, { jku })
      const { fetch, urls } = web(undefined, { [cardUrl]: document, [jku]: { keys: [eve.jwk] } })
      await assert.rejects(
        connect(publicUrl, { fetch, verify: 'require' }),
        refuses(/where no key is trusted to come from/),
      )
      assert.deepEqual(urls(), [cardUrl])
      const agent = await connect(publicUrl, { fetch, verify: 'warn' })
      assert.equal(agent.signature.status, 'unverified')
    }
  })

  it('may be those of origins that were listed, and of lists that were named [B-31]', async () => {
    const { jwk, signed } = await signerOf()
    const place = 'https://keys.test/jwks'
    const document = await signed(plain, { jku: place })
    const { fetch } = web(undefined, { [cardUrl]: document, [place]: { keys: [jwk] } })
    for (const trust of [
      { origins: ['https://keys.test'] },
      { jwks: place },
      { jwks: [new URL(place)] },
    ] as CardTrust[]) {
      const { signature } = await connect(publicUrl, { fetch, verify: 'require', trust })
      assert.ok(signature.status === 'verified' && signature.keys === place)
    }
  })

  it('are the given ones alone where some are given: the card’s own origin is then one like any other [B-31]', async () => {
    const [ours, other] = [await signerOf('ES256', 'ours'), await signerOf('ES256', 'other')]
    const document = await other.signed(plain, { jku: jwksUrl })
    const { fetch, urls } = web(undefined, { [cardUrl]: document, [jwksUrl]: { keys: [other.jwk] } })
    await connect(publicUrl, { fetch, verify: 'require' })
    const pinned = { fetch, verify: 'require', trust: given(ours.jwk) } as const
    await assert.rejects(connect(publicUrl, pinned), refuses(/no key that is trusted is called other/))
    assert.deepEqual(urls(), [cardUrl, jwksUrl])
  })

  it('are not those that have ended, have not begun, were revoked, or are for something else [B-32]', async () => {
    const { jwk, signed } = await signerOf()
    const document = await signed(plain)
    const now = Date.now() / 1_000
    const good = { ...jwk, exp: now + 60, nbf: now - 60, use: 'sig', key_ops: ['verify'] }
    assert.equal(
      (await connect(document as never, { verify: 'require', trust: given(good) })).signature.status,
      'verified',
    )
    for (const over of [
      { exp: now - 1 },
      { nbf: now + 60 },
      { revoked: { reason: 'compromised' } },
      { use: 'enc' },
      { key_ops: ['sign'] },
      { alg: 'ES384' },
    ]) {
      const trust = given({ ...good, ...over })
      await assert.rejects(connect(document as never, { verify: 'require', trust }), refuses(/not any more/))
    }
  })

  it('are not to be had by a redirect, from a list that is no list, or from one that does not answer [B-31]', async () => {
    const { jwk, signed } = await signerOf()
    const document = await signed(plain, { jku: jwksUrl })
    const answers = [
      new Response('', { status: 302, headers: { location: 'https://evil.test/keys' } }),
      new Response('<html>'),
      new Response('', { status: 500 }),
      Response.json({ keys: 'x' }),
      new Response(`{"keys":[${'1,'.repeat(600_000)}1]}`),
    ]
    for (const answer of answers) {
      clearCardCache()
      const documents = { [cardUrl]: document, [jwksUrl]: answer, 'https://evil.test/keys': { keys: [jwk] } }
      const { fetch, urls } = web(undefined, documents)
      await assert.rejects(connect(publicUrl, { fetch, verify: 'require' }), refuses(/cannot be checked/))
      assert.deepEqual(urls(), [cardUrl, jwksUrl])
    }
  })

  it('are fetched once for many cards, and again for a key that is not among them, but not at once [B-22 B-31]', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    const [one, two] = [await signerOf('ES256', 'one'), await signerOf('ES256', 'two')]
    const keys = [one.jwk]
    const documents: Record<string, object> = { [jwksUrl]: { keys } }
    const { fetch, urls } = web(undefined, documents)
    const lists = () => urls().filter((url) => url === jwksUrl).length
    const tryOn = async (signer: typeof one): Promise<string> => {
      clearCardCache()
      documents[cardUrl] = await signer.signed(plain, { jku: jwksUrl })
      return (await connect(publicUrl, { fetch, verify: 'warn' })).signature.status
    }
    assert.deepEqual([await tryOn(one), await tryOn(one), lists()], ['verified', 'verified', 1])
    assert.deepEqual([await tryOn(two), lists()], ['unverified', 1])
    keys.push(two.jwk)
    t.mock.timers.tick(31_000)
    assert.deepEqual([await tryOn(two), lists()], ['verified', 2])
    t.mock.timers.tick(301_000)
    assert.deepEqual([await tryOn(one), lists()], ['verified', 3])
  })
})

describe('the policy', () => {
  it('to require lets no card pass that is not signed, or that nothing is known of [B-33]', async () => {
    const options: ConnectOptions = { ...web(open({ publicUrl })), verify: 'require' }
    await assert.rejects(connect(publicUrl, options), refuses(/it is not signed/))
    assert.equal(await discover(publicUrl, options), null)
    assert.deepEqual((await invoke(publicUrl, 'hi', options)).success, false)
    const { signed } = await signerOf()
    await assert.rejects(
      connect((await signed(plain)) as never, { verify: 'require' }),
      refuses(/does not say where its key is/),
    )
  })

  it('to require does not let an agent without interfaces be asked another way [B-33]', async () => {
    const { fetch, urls } = web(undefined, { [cardUrl]: { name: 'Ada', version: '1' } })
    const { success, error } = await invoke(publicUrl, 'hi', { fetch, verify: 'require' })
    assert.deepEqual([success, urls().some((url) => url.includes('/tasks'))], [false, false], error)
  })

  it('to warn lets both pass and tells the log [B-33]', async () => {
    const told: string[] = []
    const log = { warn: (message: string) => void told.push(message) }
    const unsigned = await connect(publicUrl, { ...web(open({ publicUrl })), verify: 'warn', log })
    assert.deepEqual(unsigned.signature, { status: 'unsigned' })
    const { signed } = await signerOf()
    const unknown = await connect((await signed(plain)) as never, { verify: 'warn', log })
    assert.deepEqual(unknown.signature, { status: 'unverified', why: 'it does not say where its key is' })
    assert.deepEqual(told, [
      'An agent card is used though it is not signed',
      'An agent card is used though its signature cannot be checked: it does not say where its key is',
    ])
  })

  it('holds for the extended card as well, which takes the place of the other [B-33 B-139]', async () => {
    const authenticate = bearer({ verify: () => ({ id: 'ann' }) })
    const handler = opened({ authenticate, ...{ extendedCard: { description: 'More' } } } as HouseOptions)
    const { fetch } = web(handler)
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
    await assert.rejects(betrayed.extendedCard(), refuses(/changed after it was signed/))
    assert.notEqual(betrayed.card.description, 'Less')
  })

  it('is put to cards of 0.x only by the whole document, for which they have no rule of their own', async () => {
    const { jwk, signed } = await signerOf()
    const old = { name: 'Ada', description: '', version: '1', url: 'https://ada.test/a2a', protocolVersion: '0.3.0' }
    const trust = given(jwk)
    const whole = await signed(old, {}, canonicalJson(old))
    assert.equal((await connect(whole as never, { verify: 'require', trust })).signature.status, 'verified')
    // A signature that does not cover the address is none.
    await assert.rejects(connect((await signed(old)) as never, { verify: 'require', trust }), refuses(/changed/))
  })
})
