/**
 * Writes protobuf into one buffer that is reused. The library's writer keeps a list of pieces for every nested message and joins
 * them at the end, which took 4 of the 5.6 µs that encoding a small event took.
 */
import type { WireType } from '@bufbuild/protobuf/wire'

const firstBytes = 65_536
/** A larger buffer is released after the message that needed it. */
const mostKeptBytes = 1_048_576
/** Up to this length a loop is faster than a call into the runtime. */
const shortChars = 40

export class ByteWriter {
  #buffer = Buffer.allocUnsafe(firstBytes)
  #at = 0
  /** Start offsets of the open messages. */
  readonly #open: number[] = []

  /** Returns a copy of the written bytes and empties the writer, also after an error. */
  finish(): Uint8Array {
    const bytes = Uint8Array.prototype.slice.call(this.#buffer, 0, this.#at)
    this.reset()
    return bytes
  }

  reset(): void {
    this.#at = 0
    this.#open.length = 0
    if (this.#buffer.length > mostKeptBytes) this.#buffer = Buffer.allocUnsafe(firstBytes)
  }

  /** How many bytes are written. */
  get length(): number {
    return this.#at
  }

  /** Begins a message as a gRPC stream carries it: after one byte for its compression and four for its length. */
  beginFrame(): number {
    this.#need(5)
    const start = this.#at
    this.#buffer[start] = 0
    this.#at = start + 5
    return start
  }

  endFrame(start: number): void {
    this.#buffer.writeUInt32BE(this.#at - start - 5, start + 1)
  }

  /** Removes a frame that cannot be completed. */
  dropFrame(start: number): void {
    this.#at = start
    this.#open.length = 0
  }

  tag(number: number, wire: WireType): this {
    this.#need(5)
    this.#varint(((number << 3) | wire) >>> 0)
    return this
  }

  /** Begins a nested message. One byte is reserved for its length, which is enough for most. */
  fork(): this {
    this.#need(1)
    this.#open.push(this.#at++)
    return this
  }

  join(): this {
    const start = this.#open.pop() as number
    const length = this.#at - start - 1
    const more = lengthBytes(length) - 1
    if (more > 0) {
      this.#need(more)
      this.#buffer.copyWithin(start + 1 + more, start + 1, this.#at)
    }
    this.#at = start
    this.#varint(length)
    this.#at += length
    return this
  }

  string(text: string): this {
    if (text.length <= shortChars && this.#ascii(text)) return this
    const length = Buffer.byteLength(text)
    this.#need(length + 5)
    this.#varint(length)
    this.#at += this.#buffer.write(text, this.#at, length, 'utf8')
    return this
  }

  bytes(bytes: Uint8Array): this {
    this.#need(bytes.length + 5)
    this.#varint(bytes.length)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
    return this
  }

  bool(value: boolean): this {
    this.#need(1)
    this.#buffer[this.#at++] = value ? 1 : 0
    return this
  }

  int32(value: number): this {
    if (value !== (value | 0)) throw new RangeError('not an int32')
    return this.int64(value)
  }

  /** Writes an integer that JavaScript represents exactly. */
  int64(value: number): this {
    this.#need(10)
    if (value >= 0 && value <= 0xffff_ffff) this.#varint(value)
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)))
    return this
  }

  double(value: number): this {
    this.#need(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
    return this
  }

  /** Writes the text if it is ASCII; returns whether it did. */
  #ascii(text: string): boolean {
    this.#need(shortChars + 1)
    const buffer = this.#buffer
    const start = this.#at
    let at = start + 1
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit > 127) return false
      buffer[at++] = unit
    }
    buffer[start] = text.length
    this.#at = at
    return true
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.#buffer[this.#at++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#buffer[this.#at++] = rest
  }

  #bigVarint(value: bigint): void {
    let rest = value
    while (rest > 127n) {
      this.#buffer[this.#at++] = Number(rest & 127n) | 128
      rest >>= 7n
    }
    this.#buffer[this.#at++] = Number(rest)
  }

  #need(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

function lengthBytes(length: number): number {
  if (length < 0x80) return 1
  if (length < 0x4000) return 2
  if (length < 0x20_0000) return 3
  return length < 0x1000_0000 ? 4 : 5
}
