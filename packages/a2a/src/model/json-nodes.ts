/**
 * How many values a JSON text holds, and how deep they are nested, before `JSON.parse` builds them. Parsing costs by the
 * value and not by the byte: 12 MB with a million keys took 1.8 s of the event loop, 18 MB in one string 15 ms. A count
 * reads the text once, allocates nothing and stops at the limit.
 *
 * A node is a JSON value: an object, an array, a string, a number, `true`, `false` or `null`. Keys are not nodes.
 */
export const defaultJsonNodes = 100_000

export interface JsonSize {
  /** Exact for JSON. Beyond the limit: the limit plus one, as the rest is not read. */
  readonly nodes: number
  /** Of the deepest array or object; 0 for a text without one. */
  readonly depth: number
}

/**
 * Whether a text holds more nodes than allowed. Texts shorter than twice the limit are not read: n values take at least
 * 2n − 1 characters.
 */
export function exceedsJsonNodes(text: string, maxNodes: number): boolean {
  return text.length >= maxNodes * 2 && measureJson(text, maxNodes).nodes > maxNodes
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
/** Strings that are shorter are read by the character: a call of `indexOf` costs as much as about so many of them. */
const shortString = 24

/** Never throws: a text that is no JSON is for the parser to refuse. */
export function measureJson(text: string, maxNodes: number): JsonSize {
  const { length } = text
  let nodes = length === 0 ? 0 : 1
  let depth = 0
  let deepest = 0
  // Whether the last character that is not white space opened an array or an object.
  let hasOpened = false
  let at = 0
  while (at < length) {
    const char = text.charCodeAt(at++)
    if (char <= 0x20) continue
    // Digits, `-`, `.`, `:`: most of what is neither a string nor a bracket.
    if (char > comma && char < 0x5b) hasOpened = false
    else if (char === quote) {
      hasOpened = false
      at = endOfString(text, at)
    } else if (char === comma) {
      hasOpened = false
      if (++nodes > maxNodes) break
      // `[` and `{`: the first value inside is counted here, and taken back if there is none.
    } else if (char === 0x5b || char === 0x7b) {
      hasOpened = true
      if (++depth > deepest) deepest = depth
      if (++nodes > maxNodes) {
        // Unless nothing is inside, which may be the last value that is allowed.
        if (!closesAt(text, at)) break
      }
      // `]` and `}`.
    } else if (char === 0x5d || char === 0x7d) {
      if (hasOpened) nodes--
      hasOpened = false
      depth--
    } else hasOpened = false
  }
  return { nodes, depth: deepest }
}

/** Where the text goes on behind a string. */
function endOfString(text: string, start: number): number {
  const { length } = text
  let at = start
  for (;;) {
    const soon = Math.min(at + shortString, length)
    while (at < soon) {
      const char = text.charCodeAt(at++)
      if (char === quote) return at
      if (char === backslash) at++
    }
    if (at >= length) return length
    // A quote in a long string ends it, unless an odd number of backslashes stands before it.
    const end = text.indexOf('"', at)
    if (end < 0) return length
    let before = end
    while (before > at && text.charCodeAt(before - 1) === backslash) before--
    at = end + 1
    if ((end - before) % 2 === 0) return at
  }
}

function closesAt(text: string, start: number): boolean {
  let at = start
  while (text.charCodeAt(at) <= 0x20) at++
  const char = text.charCodeAt(at)
  return char === 0x5d || char === 0x7d
}
