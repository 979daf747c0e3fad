import { defaultJsonNodes, exceedsJsonNodes } from '../../model/json-nodes.ts'

/** The public keys of everything that this server signs, for verifiers: one list for all purposes. */
export interface KeyPublisher {
  jwks(): Promise<JwkSet>
}

/** A JWK Set (RFC 7517). */
export interface JwkSet {
  readonly keys: readonly object[]
}

export const jwksPath = '/.well-known/jwks.json'

/** `undefined` if nothing is signed: then the document is not served. */
export function mergeKeyPublishers(...publishers: readonly (KeyPublisher | undefined)[]): KeyPublisher | undefined {
  const given = publishers.filter((publisher) => publisher !== undefined)
  if (given.length === 0) return undefined
  return {
    async jwks() {
      const lists = await Promise.all(given.map((publisher) => publisher.jwks()))
      return { keys: lists.flatMap(({ keys }) => keys) }
    },
  }
}

// Reads the response of a key or metadata server: limited in size, and its JSON nodes are counted before it is parsed.

/** Key lists and metadata have a few kilobytes. */
const maxBytes = 1_000_000

/** Throws if the response is too large or holds too many values. */
export async function readJsonText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  // Leaving the loop early cancels the rest.
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  text += decoder.decode()
  if (exceedsJsonNodes(text, defaultJsonNodes))
    throw new Error(`the response holds more than ${defaultJsonNodes} JSON values`)
  return text
}
