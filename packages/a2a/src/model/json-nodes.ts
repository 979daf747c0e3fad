/** Names, ids, times and punctuation of a record. */
import { A2AError } from './error.ts'
import type { RecordBody } from './record.ts'
import type { Artifact, Message, Part, Task } from './task.ts'

/**
 * How large JSON is: the nodes of a text, and the bytes of a value that is not written yet (`taskBytes`, `recordBytes`).
 *
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

/** The error for the response of a peer. */
export function responseTooManyNodes(maxNodes: number): A2AError {
  const message = `The response holds more than ${maxNodes} JSON values, the limit of this client`
  return new A2AError('INVALID_AGENT_RESPONSE', message, { limit: 'maxJsonNodes' })
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

// Estimates the size of a value as JSON without serializing it. It bounds reads, caches and responses. A character counts as one
// byte, so Chinese text may take three times as much.
const overhead = 200
/** Deeper values are not counted, to keep the recursion bounded. */
const maxDepth = 2_000

/** Of what one record of a task's log contains. */
export function recordBytes(body: RecordBody): number {
  if (body.type === 'artifact') return overhead + artifactBytes(body.artifact) + valueBytes(body.metadata)
  if (body.type === 'message') return overhead + messageBytes(body.message) + valueBytes(body.options)
  if (body.type !== 'status') return overhead + valueBytes(body)
  return (
    overhead + valueBytes(body.metadata) + (body.status.message === undefined ? 0 : messageBytes(body.status.message))
  )
}

/** Of records together. */
export function recordsBytes(records: readonly { readonly body: RecordBody }[]): number {
  let bytes = 0
  for (const { body } of records) bytes += recordBytes(body)
  return bytes
}

/** Of a task with its artifacts and history. */
export function taskBytes({ status, artifacts, history, metadata }: Task): number {
  let bytes = overhead + valueBytes(metadata) + (status.message === undefined ? 0 : messageBytes(status.message))
  for (const artifact of artifacts ?? []) bytes += artifactBytes(artifact)
  for (const message of history ?? []) bytes += messageBytes(message)
  return bytes
}

function artifactBytes({ parts, metadata, description }: Artifact): number {
  return partsBytes(parts) + valueBytes(metadata) + (description?.length ?? 0)
}

function messageBytes({ parts, metadata }: Message): number {
  return partsBytes(parts) + valueBytes(metadata)
}

function partsBytes(parts: readonly Part[]): number {
  let bytes = 0
  for (const part of parts) {
    if ('text' in part) bytes += part.text.length
    else if ('raw' in part) bytes += part.raw.length
    else {
      bytes += valueBytes(part)
      continue
    }
    if (part.metadata !== undefined) bytes += valueBytes(part.metadata)
  }
  return bytes + parts.length * 20
}

function valueBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value === undefined ? 0 : 8
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += 1 + valueBytes(item, depth + 1)
  else for (const key in value) bytes += key.length + 4 + valueBytes((value as Record<string, unknown>)[key], depth + 1)
  return bytes
}
