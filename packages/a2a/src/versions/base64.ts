/** Bytes in JSON: written as standard base64 with padding, read in every common variant (J-4). */

// One search for an invalid character: no backtracking, so twenty megabytes cost milliseconds and no stack.
const foreign = /[^A-Za-z0-9+/]/
const foreignInUrl = /[^A-Za-z0-9\-_]/

/** Standard base64 with padding, or `undefined` if it is not base64 at all. */
export function toBase64(text: string): string | undefined {
  let end = text.length
  if (end > 0 && text.charCodeAt(end - 1) === 61) end--
  if (end > 0 && end < text.length && text.charCodeAt(end - 1) === 61) end--
  const padding = text.length - end
  // One leftover character holds six bits, less than a byte. Padding, if there is any, must fit.
  if (end % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined
  const bare = padding === 0 ? text : text.slice(0, end)
  if (!foreign.test(bare)) return padding > 0 || end % 4 === 0 ? text : pad(bare)
  if (foreignInUrl.test(bare)) return undefined
  return pad(bare.replaceAll('-', '+').replaceAll('_', '/'))
}

function pad(bare: string): string {
  return bare + '='.repeat((4 - (bare.length % 4)) % 4)
}
