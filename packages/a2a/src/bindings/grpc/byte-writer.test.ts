import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { ByteWriter } from './byte-writer.ts'

/** The input of both writers. */
type Word =
  | { readonly string: string }
  | { readonly bytes: Uint8Array }
  | { readonly int32: number }
  | { readonly int64: number }
  | { readonly double: number }
  | { readonly bool: boolean }
  | { readonly message: readonly Word[] }

function say(writer: ByteWriter | BinaryWriter, words: readonly Word[]): void {
  for (const [index, word] of words.entries()) {
    const number = index * 300 + 1
    if ('string' in word) writer.tag(number, WireType.LengthDelimited).string(word.string)
    else if ('bytes' in word) writer.tag(number, WireType.LengthDelimited).bytes(word.bytes)
    else if ('int32' in word) writer.tag(number, WireType.Varint).int32(word.int32)
    else if ('int64' in word) writer.tag(number, WireType.Varint).int64(word.int64)
    else if ('double' in word) writer.tag(number, WireType.Bit64).double(word.double)
    else if ('bool' in word) writer.tag(number, WireType.Varint).bool(word.bool)
    else {
      writer.tag(number, WireType.LengthDelimited).fork()
      say(writer, word.message)
      writer.join()
    }
  }
}

const { words } = fc.letrec<{ words: readonly Word[]; word: Word }>((tie) => ({
  words: fc.array(tie('word'), { maxLength: 5 }),
  word: fc.oneof(
    { depthSize: 'small' },
    fc.record({ string: fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.toWellFormed()) }),
    fc.record({ bytes: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ int32: fc.integer() }),
    fc.record({ int64: fc.maxSafeInteger() }),
    fc.record({ double: fc.double() }),
    fc.record({ bool: fc.boolean() }),
    fc.record({ message: tie('words') }),
  ),
}))

describe('a writer of bytes', () => {
  it('writes the same bytes as the writer of the library, message after message', () => {
    const writer = new ByteWriter()
    fc.assert(
      fc.property(words, (given) => {
        const expected = new BinaryWriter()
        say(expected, given)
        say(writer, given)
        assert.deepEqual([...writer.finish()], [...expected.finish()])
      }),
      { numRuns: 500 },
    )
  })

  it('writes lengths of one to four bytes, and messages larger than its buffer', () => {
    const writer = new ByteWriter()
    for (const length of [127, 128, 16_383, 16_384, 70_000, 2_097_151, 2_097_152, 5_000_000]) {
      const given: Word[] = [
        { message: [{ string: 'é'.repeat(length / 2) }, { bytes: new Uint8Array(length).fill(7) }] },
      ]
      const expected = new BinaryWriter()
      say(expected, given)
      say(writer, given)
      assert.ok(Buffer.from(expected.finish()).equals(writer.finish()), String(length))
    }
  })

  it('resets after an error', () => {
    const writer = new ByteWriter()
    writer.tag(1, WireType.LengthDelimited).fork().string('half')
    assert.throws(() => writer.int32(2 ** 31), RangeError)
    assert.throws(() => writer.int32(1.5), RangeError)
    writer.reset()
    writer.tag(1, WireType.Varint).bool(true)
    assert.deepEqual([...writer.finish()], [8, 1])
  })
})
