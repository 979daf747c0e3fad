/** The result of a parser that throws, for input that may be anything; `undefined` instead of an error. */
export function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** The text of these bytes; `undefined` if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}
