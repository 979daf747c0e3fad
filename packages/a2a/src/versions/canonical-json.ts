/**
 * One text for each JSON value (RFC 8785, JCS), so that two parties that agree on a value agree on the signed bytes.
 * JSON.stringify already formats numbers and strings as the RFC requires; what is left is the order of the keys, which is that
 * of UTF-16 code units and thus that of `sort()`.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return primitive(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = value as { readonly [key: string]: unknown }
  const members = Object.keys(fields)
    .filter((key) => fields[key] !== undefined)
    .sort()
    .map((key) => `${quoted(key)}:${canonicalJson(fields[key])}`)
  return `{${members.join(',')}}`
}

/** A lone surrogate has no UTF-8 form, and so no bytes that could be signed. */
function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('Text with an unpaired surrogate cannot be signed')
  return JSON.stringify(text)
}

function primitive(value: unknown): string {
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return JSON.stringify(value)
  throw new TypeError('Only JSON can be signed')
}
