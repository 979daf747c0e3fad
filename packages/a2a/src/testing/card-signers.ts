/** Signers of cards and a web of documents without a socket: what the tests of signatures are set against. */
import assert from 'node:assert/strict'
import { exportJWK, FlattenedSign, generateKeyPair } from 'jose'
import type { JWK } from 'jose'
import type { CardTrust, Fetch } from '../client/contract.ts'
import { A2AError } from '../model/error.ts'
import type { Handler } from '../server/index.ts'
import { canonicalJson } from '../versions/canonical-json.ts'
import { signedView } from '../versions/signed-card.ts'

export const publicUrl = 'https://ada.test'
export type Document = Record<string, unknown>

/** The web as far as these tests know it: what is asked for is kept, and a document may be exchanged on the way. */
export function web(
  handler: Handler | undefined,
  documents: { readonly [url: string]: object | Response | undefined } = {},
) {
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

export const cardUrl = `${publicUrl}/.well-known/agent-card.json`
export const jwksUrl = `${publicUrl}/.well-known/jwks.json`

export const plain: Document = {
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
export async function signerOf(alg = 'ES256', kid = 'k1') {
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
    sign,
    signed: async (document: Document, header?: object, text?: string): Promise<Document> => ({
      ...document,
      signatures: [await sign(document, header, text)],
    }),
  }
}
export const given = (key: JWK): CardTrust => ({ keys: [key] })

export const refuses =
  (why: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof A2AError, String(error))
    assert.deepEqual([error.code, error.details['reason']], ['INVALID_AGENT_RESPONSE', 'CARD_SIGNATURE'], error.message)
    assert.match(error.message, why)
    return true
  }
