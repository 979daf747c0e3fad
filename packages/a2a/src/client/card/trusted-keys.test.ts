import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  cardUrl,
  trustKey,
  jwksUrl,
  unsignedCard,
  publicUrl,
  isSignatureError,
  createTestCardSigner,
  createDocumentServer,
} from '../../testing/fixtures/card-signers.ts'
import { clearCardCache } from './card-discovery.ts'
import { connect } from '../connect.ts'
import type { CardTrust } from '../contract.ts'

beforeEach(clearCardCache)

describe('trusted keys', () => {
  it('are not loaded from an untrusted origin that a signature names [B-31 B-33]', async () => {
    const eve = await createTestCardSigner('ES256', 'eve')
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
      const document = await eve.signed(unsignedCard, { jku })
      const { fetch, urls } = createDocumentServer(undefined, { [cardUrl]: document, [jku]: { keys: [eve.jwk] } })
      await assert.rejects(connect(publicUrl, { fetch, verify: 'require' }), isSignatureError(/key URL is not trusted/))
      assert.deepEqual(urls(), [cardUrl])
      const agent = await connect(publicUrl, { fetch, verify: 'warn' })
      assert.equal(agent.signature.status, 'unverified')
    }
  })

  it("are not loaded without TLS, not even from the card's own origin, except on loopback [B-32]", async () => {
    const { jwk, signed } = await createTestCardSigner()
    for (const [origin, status] of [
      ['http://ada.test', 'unverified'],
      ['http://127.0.0.1:3000', 'verified'],
      ['http://localhost:3000', 'verified'],
      ['http://127.evil.test', 'unverified'],
    ] as const) {
      const jku = `${origin}/keys`
      const documents = {
        [`${origin}/.well-known/agent-card.json`]: await signed(unsignedCard, { jku }),
        [jku]: { keys: [jwk] },
      }
      const { signature } = await connect(origin, {
        fetch: createDocumentServer(undefined, documents).fetch,
        verify: 'warn',
      })
      assert.equal(signature.status, status, origin)
    }
  })

  it('may come from listed origins and named key sets [B-31]', async () => {
    const { jwk, signed } = await createTestCardSigner()
    const place = 'https://keys.test/jwks'
    const document = await signed(unsignedCard, { jku: place })
    const { fetch } = createDocumentServer(undefined, { [cardUrl]: document, [place]: { keys: [jwk] } })
    for (const trust of [
      { origins: ['https://keys.test'] },
      { jwks: place },
      { jwks: [new URL(place)] },
    ] as CardTrust[]) {
      const { signature } = await connect(publicUrl, { fetch, verify: 'require', trust })
      assert.ok(signature.status === 'verified' && signature.keys === place)
    }
  })

  it("are only the given ones if there are some: the card's own origin is not special then [B-31]", async () => {
    const [ours, other] = [await createTestCardSigner('ES256', 'ours'), await createTestCardSigner('ES256', 'other')]
    const document = await other.signed(unsignedCard, { jku: jwksUrl })
    const { fetch, urls } = createDocumentServer(undefined, { [cardUrl]: document, [jwksUrl]: { keys: [other.jwk] } })
    await connect(publicUrl, { fetch, verify: 'require' })
    const pinned = { fetch, verify: 'require', trust: trustKey(ours.jwk) } as const
    await assert.rejects(connect(publicUrl, pinned), isSignatureError(/no trusted key has the id other/))
    assert.deepEqual(urls(), [cardUrl, jwksUrl])
  })

  it('do not include expired, future, revoked keys or keys for another use [B-32]', async () => {
    const { jwk, signed } = await createTestCardSigner()
    const document = await signed(unsignedCard)
    const now = Date.now() / 1_000
    const good = { ...jwk, exp: now + 60, nbf: now - 60, use: 'sig', key_ops: ['verify'] }
    assert.equal(
      (await connect(document as never, { verify: 'require', trust: trustKey(good) })).signature.status,
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
      const trust = trustKey({ ...good, ...over })
      await assert.rejects(
        connect(document as never, { verify: 'require', trust }),
        isSignatureError(/no longer valid/),
      )
    }
  })

  it('are not loaded by a redirect, from an invalid key set, or from an unreachable one [B-31]', async () => {
    const { jwk, signed } = await createTestCardSigner()
    const document = await signed(unsignedCard, { jku: jwksUrl })
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
      const { fetch, urls } = createDocumentServer(undefined, documents)
      await assert.rejects(connect(publicUrl, { fetch, verify: 'require' }), isSignatureError(/cannot be checked/))
      assert.deepEqual(urls(), [cardUrl, jwksUrl])
    }
  })

  it('are fetched once for many cards, and again for an unknown key, but not at once [B-22 B-31]', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    t.mock.method(performance, 'now', () => Date.now())
    const [one, two] = [await createTestCardSigner('ES256', 'one'), await createTestCardSigner('ES256', 'two')]
    const keys = [one.jwk]
    const documents: Record<string, object> = { [jwksUrl]: { keys } }
    const { fetch, urls } = createDocumentServer(undefined, documents)
    const lists = () => urls().filter((url) => url === jwksUrl).length
    const tryOn = async (signer: typeof one): Promise<string> => {
      clearCardCache()
      documents[cardUrl] = await signer.signed(unsignedCard, { jku: jwksUrl })
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
