/** Builds the value of a WWW-Authenticate header (RFC 9110 §11.6.1). */

/** Omits characters that a quoted string cannot hold, so that no text ends the string early. */
export function quotedString(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]|["\\]/g, '')}"`
}

/** `Bearer realm="parley", error="invalid_token"` */
export function challenge(scheme: string, parameters: { readonly [name: string]: string | undefined } = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quotedString(value)}`],
  )
  return given.length === 0 ? scheme : `${scheme} ${given.join(', ')}`
}
