/** The public halves of all keys that this server signs with, for whoever verifies: one list, whatever they sign. */
export interface KeyPublisher {
  jwks(): Promise<KeyList>
}

/** A JWK Set (RFC 7517). */
export interface KeyList {
  readonly keys: readonly object[]
}

export const jwksPath = '/.well-known/jwks.json'

/** `undefined` where nothing is signed: then there is no such document. */
export function publishTogether(...publishers: readonly (KeyPublisher | undefined)[]): KeyPublisher | undefined {
  const given = publishers.filter((publisher) => publisher !== undefined)
  if (given.length === 0) return undefined
  return {
    async jwks() {
      const lists = await Promise.all(given.map((publisher) => publisher.jwks()))
      return { keys: lists.flatMap(({ keys }) => keys) }
    },
  }
}
