/**
 * Counts the values and the nesting depth of a JSON text before `JSON.parse` builds them. Parsing costs by the value and not by the
 * byte: 12 MB with a million keys took 1.8 s of the event loop, 18 MB in one string 15 ms. A count reads the text once, allocates
 * nothing and stops at the limit.
 *
 * A node is a JSON value: an object, an array, a string, a number, `true`, `false` or `null`. Keys are not nodes.
 */
/** Default of `limits.jsonNodes` and `maxJsonNodes`. */
export const defaultJsonNodes = 100_000

/** The size of a JSON text, as `measureJson` counts it. */
export interface JsonSize {
  /** Exact for JSON. Beyond the limit it is the limit plus one, because the rest is not read. */
  readonly nodes: number
  /** The depth of the deepest array or object; 0 for a text without one. */
  readonly depth: number
}

/**
 * Whether a text holds more nodes than allowed. Texts shorter than twice the limit are not read: n values take at least 2n − 1
 * characters.
 */
export function exceedsJsonNodes(text: string, maxNodes: number): boolean {
  return text.length >= maxNodes * 2 && measureJson(text, maxNodes).nodes > maxNodes
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
/** Shorter strings are read character by character: a call of `indexOf` costs about as much as this many characters. */
const shortString = 24

/**
 * Counts the nodes and the nesting depth of a JSON text without parsing it. Stops once `maxNodes` is exceeded. Never
 * throws: the parser rejects a text that is not JSON.
 */
export function measureJson(text: string, maxNodes: number): JsonSize {
  const meter = new JsonMeter(maxNodes)
  meter.feed(text)
  const { nodes, depth } = meter
  return { nodes, depth }
}

/** Counts nodes and nesting depth of a JSON text that arrives in pieces; otherwise like `measureJson`. */
export class JsonMeter {
  nodes = 0
  depth = 0
  readonly #maxNodes: number
  #level = 0
  /** Whether the last character that is not white space opened an array or an object. */
  #hasOpened = false
  #isInString = false
  #isEscaped = false

  constructor(maxNodes: number) {
    this.#maxNodes = maxNodes
  }

  /** Whether the text fed so far holds more than `maxNodes` nodes. */
  get isExceeded(): boolean {
    // The last opened array or object may turn out to be empty.
    return this.nodes - (this.#hasOpened ? 1 : 0) > this.#maxNodes
  }

  /** For line-based framings: no JSON string continues on the next line, so a stray quote does not hide the rest. */
  endLine(): void {
    this.#isInString = false
    this.#isEscaped = false
  }

  /** Counts the next piece of the text. */
  feed(text: string): void {
    const { length } = text
    const maxNodes = this.#maxNodes
    let at = this.#isInString ? this.#endOfString(text, 0) : 0
    let nodes = this.nodes === 0 && length > 0 ? 1 : this.nodes
    let depth = this.#level
    let hasOpened = this.#hasOpened
    while (at < length) {
      const char = text.charCodeAt(at++)
      if (char <= 0x20) continue
      // The bracket counted its first value; an empty array or object has none.
      if (hasOpened) {
        hasOpened = false
        if (char === 0x5d || char === 0x7d) nodes--
        else if (nodes > maxNodes) break
      }
      // Digits, `-`, `.`, `:`: most of what is neither a string nor a bracket.
      if (char > comma && char < 0x5b) continue
      if (char === quote) at = this.#endOfString(text, at)
      else if (char === comma) {
        if (++nodes > maxNodes) break
      } else if (char === 0x5b || char === 0x7b) {
        hasOpened = true
        nodes++
        if (++depth > this.depth) this.depth = depth
      } else if (char === 0x5d || char === 0x7d) depth--
    }
    this.nodes = nodes
    this.#level = depth
    this.#hasOpened = hasOpened
  }

  /** Returns the position after a string. */
  #endOfString(text: string, start: number): number {
    const { length } = text
    let at = this.#isEscaped ? start + 1 : start
    this.#isInString = false
    this.#isEscaped = false
    while (at < length) {
      const soon = Math.min(at + shortString, length)
      while (at < soon) {
        const char = text.charCodeAt(at++)
        if (char === quote) return at
        if (char === backslash) at++
      }
      // A quote in a long string ends it, unless an odd number of backslashes stands before it.
      const found = at < length ? text.indexOf('"', at) : -1
      const end = found < 0 ? length : found
      let before = end
      while (before > at && text.charCodeAt(before - 1) === backslash) before--
      const isEscaped = (end - before) % 2 === 1
      if (found >= 0) {
        if (!isEscaped) return found + 1
        at = found + 1
      } else if (at <= length) at = isEscaped ? length + 1 : length
    }
    this.#isInString = true
    this.#isEscaped = at > length
    return length
  }
}
