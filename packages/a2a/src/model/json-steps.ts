/**
 * JSON of any size, written and parsed in pieces: `JSON.stringify` and `JSON.parse` hold the event loop for 10 ms per megabyte. They
 * return what the built-in functions would. Generators: `inSteps` runs them, a few pieces at a time.
 */
import { inSteps, type NextStep } from './heavy-step.ts'

/** Characters. A piece of this size takes about a millisecond. */
const pieceLength = 131_072
/** Values that are nested deeper in ever larger values are written and parsed at once, to keep the recursion bounded. */
const maxLevels = 200

/** The JSON of a value in UTF-8. The caller is in a step. */
export function encodeJsonInSteps(value: unknown, nextStep: NextStep): Promise<Uint8Array> {
  return inSteps(encodePieces(value), nextStep)
}

/** The JSON of a value. The caller is in a step. */
export function writeJsonInSteps(value: unknown, nextStep: NextStep): Promise<string> {
  return inSteps(joinPieces(value), nextStep)
}

/** Throws a SyntaxError if the text is not JSON. The caller is in a step. */
export function parseJsonInSteps(text: string, nextStep: NextStep): Promise<unknown> {
  return inSteps(parsePieces(text), nextStep)
}

/** Text of UTF-8, decoded piece by piece. The caller is in a step. */
export function decodeTextInSteps(bytes: Uint8Array, nextStep: NextStep): Promise<string> {
  return inSteps(decodePieces(bytes), nextStep)
}

function* decodePieces(bytes: Uint8Array): Generator<undefined, string> {
  // Without `stream`, which decodes ASCII to two bytes for each character.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const end = startOfCharacter(bytes, at + pieceLength)
    text += decoder.decode(bytes.subarray(at, end))
    at = end
    yield
  }
  return text
}

/** Of the character that a position is within: it has at most four bytes. */
function startOfCharacter(bytes: Uint8Array, position: number): number {
  let start = Math.min(position, bytes.length)
  while (start > position - 4 && isContinuation(bytes[start])) start -= 1
  return isContinuation(bytes[start]) ? position : start
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

function* joinPieces(value: unknown): Generator<undefined, string> {
  let text = ''
  for (const piece of writePieces(value, 0)) {
    text += piece
    yield
  }
  return text
}

function* encodePieces(value: unknown): Generator<undefined, Uint8Array> {
  const encoder = new TextEncoder()
  const pieces: Uint8Array[] = []
  let length = 0
  let text = ''
  for (const piece of writePieces(value, 0)) {
    text += piece
    if (text.length < pieceLength) continue
    const bytes = encoder.encode(text)
    pieces.push(bytes)
    length += bytes.length
    text = ''
    yield
  }
  const last = encoder.encode(text)
  const whole = new Uint8Array(length + last.length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
    yield
  }
  whole.set(last, at)
  return whole
}

function* writePieces(value: unknown, level: number): Generator<string, void> {
  if (typeof value === 'string') {
    yield* writeString(value)
    return
  }
  const isContainer = typeof value === 'object' && value !== null && !hasToJson(value)
  if (!isContainer || level === maxLevels || lengthLeft(value, pieceLength) > 0) {
    // As an item of an array.
    yield JSON.stringify(value) ?? 'null'
  } else if (Array.isArray(value)) {
    yield* writeItems(value, level)
  } else {
    let before = '{'
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue
      yield `${before}${JSON.stringify(key)}:`
      yield* writePieces(item, level + 1)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

/** As many items at once as fit into a piece. */
function* writeItems(items: readonly unknown[], level: number): Generator<string> {
  let before = '['
  for (let at = 0; at < items.length; before = ',') {
    yield before
    let end = at
    for (let left = pieceLength; end < items.length; end += 1) if ((left = lengthLeft(items[end], left)) <= 0) break
    if (end === at) yield* writePieces(items[at], level + 1)
    else yield JSON.stringify(items.slice(at, end)).slice(1, -1)
    at = Math.max(end, at + 1)
  }
  yield before === '[' ? '[]' : ']'
}

/** What is left of a length after the JSON of a value, about; a value that is longer is not read to its end. */
function lengthLeft(value: unknown, length: number): number {
  let left = length - 5
  if (typeof value === 'string') return left - value.length
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left > 0; index += 1) left = lengthLeft(value[index], left)
    return left
  }
  for (const key in value) {
    if (left <= 0) return left
    left = lengthLeft((value as Record<string, unknown>)[key], left - key.length)
  }
  return left
}

function hasToJson(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function* writeString(text: string): Generator<string, void> {
  if (text.length <= pieceLength) {
    yield JSON.stringify(text)
    return
  }
  yield '"'
  for (let at = 0; at < text.length;) {
    const end = endOfPiece(text, at)
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}

/** Not between the halves of a surrogate pair, which would be escaped one by one. */
function endOfPiece(text: string, at: number): number {
  const end = at + pieceLength
  if (end >= text.length) return text.length
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
}

function isHighSurrogate(char: number): boolean {
  return char >= 0xd800 && char < 0xdc00
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

function* parsePieces(text: string): Generator<undefined, unknown> {
  const reader = new PieceReader(text)
  const value = yield* reader.value(0)
  if (reader.skipSpace() < text.length) throw notJson()
  return value
}

/** Finds the ends of values up to `pieceLength` and has `JSON.parse` read them; larger ones it opens. */
class PieceReader {
  readonly #text: string
  #at = 0
  /** The containers that are open where the last scan of members stopped. Scanning each again would take a deep value its levels times. */
  readonly #open: { stop: number; begins: number[]; commas: number[] } = { stop: 0, begins: [], commas: [] }

  constructor(text: string) {
    this.#text = text
  }

  /** The position of the next character that is not white space. */
  skipSpace(): number {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1
    return this.#at
  }

  *value(level: number): Generator<undefined, unknown> {
    const at = this.skipSpace()
    const text = this.#text
    if (text.length - at <= pieceLength || level === maxLevels) return this.#parseShort(at)
    const char = text[at]
    if (char === '"') return yield* this.#string()
    if (char === '[') return yield* this.#items(level)
    if (char === '{') return yield* this.#members(level)
    return this.#parseShort(at)
  }

  /** A value that is not opened, or a number, true, false, null. */
  #parseShort(at: number): unknown {
    const { end } = this.#scan(at, Infinity)
    this.#at = end
    return JSON.parse(this.#text.slice(at, end)) as unknown
  }

  *#string(): Generator<undefined, string> {
    const text = this.#text
    let made = ''
    for (let at = this.#at + 1; ;) {
      const limit = at + pieceLength
      const end = findQuote(text, at, limit)
      if (end < 0 && limit >= text.length) throw notJson()
      const to = end < 0 ? beforeEscape(text, at, limit) : end
      made += JSON.parse(`"${text.slice(at, to)}"`) as string
      this.#at = at = to
      if (end >= 0) break
      yield
    }
    this.#at += 1
    return made
  }

  *#items(level: number): Generator<undefined, unknown[]> {
    const items: unknown[] = []
    const take = (batch: string): void => {
      for (const item of JSON.parse(`[${batch}]`) as unknown[]) items.push(item)
    }
    yield* this.#container(']', take, function* (reader) {
      items.push(yield* reader.value(level + 1))
    })
    return items
  }

  *#members(level: number): Generator<undefined, object> {
    const members: Record<string, unknown> = {}
    const take = (batch: string): void => {
      for (const [key, value] of Object.entries(JSON.parse(`{${batch}}`) as object)) setMember(members, key, value)
    }
    yield* this.#container('}', take, function* (reader) {
      const key = reader.#key()
      setMember(members, key, yield* reader.value(level + 1))
    })
    return members
  }

  #key(): string {
    const at = this.skipSpace()
    const end = this.#text[at] === '"' ? findQuote(this.#text, at + 1, this.#text.length) : -1
    if (end < 0) throw notJson()
    this.#at = end + 1
    if (this.#text[this.skipSpace()] !== ':') throw notJson()
    this.#at += 1
    return JSON.parse(this.#text.slice(at, end + 1)) as string
  }

  /** Takes as many whole members at once as fit into a piece; a member that does not is read by `readLarge`. */
  *#container(
    close: ']' | '}',
    take: (batch: string) => void,
    readLarge: (reader: PieceReader) => Generator<undefined, void>,
  ): Generator<undefined, void> {
    const text = this.#text
    const begin = this.#at
    this.#at += 1
    for (let isFirst = true; ; isFirst = false) {
      const start = this.skipSpace()
      const { end, lastComma } = this.#scanMembers(begin, start)
      if (text[end] === close) {
        if (end > start) take(text.slice(start, end))
        else if (!isFirst) throw notJson()
        this.#at = end + 1
        return
      }
      if (lastComma > start) {
        take(text.slice(start, lastComma))
        this.#at = lastComma + 1
      } else {
        yield* readLarge(this)
        const after = text[this.skipSpace()]
        this.#at += 1
        if (after === close) return
        if (after !== ',') throw notJson()
      }
      yield
    }
  }

  /** Of the container that begins at `begin`: the members from `start` on. */
  #scanMembers(begin: number, start: number): ScannedMembers {
    const { stop, begins, commas } = this.#open
    const level = start < stop ? begins.indexOf(begin) : -1
    return level < 0 ? this.#scan(start, start + pieceLength) : { end: -1, lastComma: commas[level] ?? -1 }
  }

  /** From `at` to the bracket or comma that ends the value or, within a container, all of its members; or to the limit. */
  #scan(at: number, limit: number): ScannedMembers {
    const text = this.#text
    const isMember = limit !== Infinity
    const stop = Math.min(limit, text.length)
    const { begins, commas } = this.#open
    let depth = 0
    let lastComma = -1
    while (at < stop) {
      const char = text.charCodeAt(at)
      if (char === quote) {
        const end = findQuote(text, at + 1, stop)
        if (end < 0) break
        at = end
        if (depth === 0 && !isMember) return { end: at + 1, lastComma }
      } else if (char === comma) {
        if (depth > 0) commas[depth - 1] = at
        else if (isMember) lastComma = at
        else return { end: at, lastComma }
      } else if (char === 0x5b || char === 0x7b) {
        begins[depth] = at
        commas[depth] = -1
        depth += 1
      } else if (char === 0x5d || char === 0x7d) {
        if (depth === 0) return { end: at, lastComma }
        depth -= 1
        if (depth === 0 && !isMember) return { end: at + 1, lastComma }
      }
      at += 1
    }
    begins.length = depth
    this.#open.stop = stop
    return { end: isMember ? -1 : text.length, lastComma }
  }
}

interface ScannedMembers {
  readonly end: number
  readonly lastComma: number
}

/** The position of the quote that ends a string, if it comes before a limit; otherwise -1. */
function findQuote(text: string, start: number, limit: number): number {
  // The search for a quote that is far away would cost each piece as much as the whole.
  const piece = text.slice(start, limit)
  for (let at = piece.indexOf('"'); at >= 0; at = piece.indexOf('"', at + 1)) {
    if (!isEscaped(piece, 0, at)) return start + at
  }
  return -1
}

/** Whether an odd number of backslashes stands before a position of a string. */
function isEscaped(text: string, start: number, at: number): boolean {
  let before = at
  while (before > start && text.charCodeAt(before - 1) === backslash) before -= 1
  return (at - before) % 2 === 1
}

/** The end of a piece of a string that is not within an escape: `\n`, or the six characters of `\u20ac`. */
function beforeEscape(text: string, start: number, end: number): number {
  for (let mark = end - 5; mark < end - 1; mark += 1)
    if (text.startsWith('\\u', mark) && !isEscaped(text, start, mark)) return mark
  return isEscaped(text, start, end) ? end - 1 : end
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

/** `__proto__` in JSON is a member; an assignment would set the prototype. */
function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value
  else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true })
}

function notJson(): SyntaxError {
  return new SyntaxError('The text is not JSON')
}
