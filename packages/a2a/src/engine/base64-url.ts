/** Bytes as text that may stand in a URL, a header or a token: base64 with `-` and `_`, without padding. */

/** More arguments than this a call does not take everywhere. */
const mostArguments = 8_192

export function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (let from = 0; from < bytes.length; from += mostArguments) {
    binary += String.fromCharCode(...bytes.subarray(from, from + mostArguments))
  }
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Nothing for what is no such text. */
export function fromBase64Url(text: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (text === undefined || !/^[\w-]+$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
