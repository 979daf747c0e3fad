/** The words of a WWW-Authenticate header (RFC 9110 §11.6.1). */

/** What may not stand in a quoted string is left out: nobody's text may end it early. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]|["\\]/g, '')}"`
}

/** `Bearer realm="parley", error="invalid_token"` */
export function challenge(scheme: string, parameters: { readonly [name: string]: string | undefined } = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  )
  return given.length === 0 ? scheme : `${scheme} ${given.join(', ')}`
}
