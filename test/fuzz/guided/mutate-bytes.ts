/** Mutations that know nothing of a format: bits, ranges, words, and growth. */
import type { RandomChoices } from './random.ts'

/** Above the megabyte for which the time limit holds nothing is to be learned. */
export const mostBytes = 1_000_000

const edgeBytes = [
  0, 1, 0x0a, 0x0d, 0x20, 0x22, 0x2e, 0x2f, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xed, 0xff,
]

export function concat(...pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}

/** A range of the input: mostly short, at times all of it. */
function rangeIn(length: number, random: RandomChoices): readonly [from: number, to: number] {
  const from = random.below(length + 1)
  const most = random.chance(0.8) ? Math.min(16, length - from) : length - from
  return [from, from + random.below(most + 1)]
}

/** `other` is another input of the pool, for crossing over. */
export function mutateBytes(
  input: Uint8Array,
  other: Uint8Array,
  dictionary: readonly Uint8Array[],
  random: RandomChoices,
): Uint8Array {
  const [from, to] = rangeIn(input.length, random)
  const before = input.subarray(0, from)
  const after = input.subarray(to)
  switch (random.below(11)) {
    case 0: {
      const out = Uint8Array.from(input)
      if (out.length > 0) out[random.below(out.length)]! ^= 1 << random.below(8)
      return out
    }
    case 1: {
      const out = Uint8Array.from(input)
      if (out.length > 0)
        out[random.below(out.length)] = random.chance(0.5) ? random.pick(edgeBytes) : random.below(256)
      return out
    }
    case 2:
      return concat(before, after)
    case 3:
      return concat(input.subarray(0, to), input.subarray(from))
    case 4:
      return concat(
        before,
        Uint8Array.from({ length: 1 + random.below(8) }, () => random.below(256)),
        input.subarray(from),
      )
    case 5:
      return before
    case 6: {
      const [start, end] = rangeIn(other.length, random)
      return concat(before, other.subarray(start, end), after)
    }
    case 7:
      return changeNumber(input, random)
    case 8:
      return random.chance(0.05) ? grow(input, from, to, random) : concat(input.subarray(0, to), input.subarray(from))
    case 9:
      return dictionary.length === 0 ? before : concat(before, random.pick(dictionary), after)
    default:
      return dictionary.length === 0 ? before : concat(before, random.pick(dictionary), input.subarray(from))
  }
}

/** Repeats a range until the input is large, for code whose cost grows faster than its input. */
function grow(input: Uint8Array, from: number, to: number, random: RandomChoices): Uint8Array {
  const piece = input.subarray(from, to)
  if (piece.length === 0) return input
  const wanted = 2 ** (8 + random.below(12))
  const times = Math.min(Math.ceil(wanted / piece.length), Math.floor((mostBytes - input.length) / piece.length))
  if (times <= 0) return input
  return concat(input.subarray(0, to), Buffer.alloc(times * piece.length, piece), input.subarray(to))
}

const numbers = [
  '0',
  '-1',
  '1e999',
  '-0',
  '9007199254740993',
  '2147483648',
  '4294967296',
  '1.5',
  '1e-400',
  '99999999999999999999',
]

function changeNumber(input: Uint8Array, random: RandomChoices): Uint8Array {
  const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString('latin1')
  const found = [...text.slice(0, 20_000).matchAll(/\d+/g)]
  if (found.length === 0) return input
  const { index, 0: digits } = random.pick(found)
  const changed = random.chance(0.5) ? random.pick(numbers) : String(Number(digits) + random.below(3) - 1)
  return Buffer.from(text.slice(0, index) + changed + text.slice(index + digits.length), 'latin1')
}
