/** Bytes as text for a URL, a header or a token: base64 with `-` and `_`, without padding. */

/** Some runtimes reject a call with more arguments. */
const mostArguments = 8_192

export function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (let from = 0; from < bytes.length; from += mostArguments) {
    binary += String.fromCharCode(...bytes.subarray(from, from + mostArguments))
  }
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Returns `undefined` if the text is not base64url. */
export function fromBase64Url(text: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (text === undefined || !/^[\w-]+$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
