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
