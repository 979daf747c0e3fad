/** Mutations of the fields of a protobuf message, read without its descriptor. */
import { concat } from './mutate-bytes.ts'
import type { RandomChoices } from './random.ts'

interface Field {
  number: number
  wire: number
  /** Of wire types 0, 1 and 5: the bytes as they stand. */
  bytes: Uint8Array
  /** Of a length-delimited field that reads as a message itself. */
  fields: Field[] | undefined
}

/** `undefined` if the input is no sequence of fields. */
export function mutateProtobuf(
  input: Uint8Array,
  other: Uint8Array,
  dictionary: readonly Uint8Array[],
  random: RandomChoices,
): Uint8Array | undefined {
  const fields = input.length > 200_000 ? undefined : readFields(input, 0)
  if (fields === undefined || fields.length === 0) return undefined
  for (let rounds = 1 + random.below(3); rounds > 0; rounds -= 1) {
    const lists = listsIn(fields)
    const list = random.pick(lists)
    mutateList(list, random.pick(lists), readFields(other, 0) ?? [], dictionary, random)
  }
  return writeFields(fields)
}

function readFields(bytes: Uint8Array, depth: number): Field[] | undefined {
  const fields: Field[] = []
  let at = 0
  while (at < bytes.length) {
    const [tag, afterTag] = readVarint(bytes, at)
    const number = Math.floor(tag / 8)
    const wire = tag % 8
    let end = afterTag
    let from = afterTag
    if (wire === 0) end = readVarint(bytes, afterTag)[1]
    else if (wire === 1) end = afterTag + 8
    else if (wire === 5) end = afterTag + 4
    else if (wire === 2) {
      const [length, start] = readVarint(bytes, afterTag)
      from = start
      end = start + length
    } else return undefined
    if (number === 0 || end > bytes.length || afterTag > bytes.length) return undefined
    const held = bytes.subarray(from, end)
    const inner = wire === 2 && held.length > 1 && depth < 40 ? readFields(held, depth + 1) : undefined
    fields.push({ number, wire, bytes: held, fields: inner })
    at = end
  }
  return fields
}

function readVarint(bytes: Uint8Array, at: number): readonly [value: number, end: number] {
  let value = 0
  let scale = 1
  for (let index = at; index < Math.min(at + 10, bytes.length); index += 1) {
    const byte = bytes[index] as number
    value += (byte & 127) * scale
    scale *= 128
    if (byte < 128) return [value, index + 1]
  }
  return [0, bytes.length + 1]
}

function varint(value: number): Uint8Array {
  const out: number[] = []
  let rest = value
  do {
    out.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Uint8Array.from(out)
}

function writeFields(fields: readonly Field[]): Uint8Array {
  return concat(
    ...fields.flatMap(({ number, wire, bytes, fields: inner }) => {
      const held = inner === undefined ? bytes : writeFields(inner)
      const tag = varint(number * 8 + wire)
      return wire === 2 ? [tag, varint(held.length), held] : [tag, held]
    }),
  )
}

function listsIn(fields: Field[]): Field[][] {
  return [fields, ...fields.flatMap((field) => (field.fields === undefined ? [] : listsIn(field.fields)))]
}

const edgeVarints = [0, 1, 2, 127, 128, 2 ** 31, 2 ** 32, 2 ** 53]

function mutateList(
  list: Field[],
  another: Field[],
  others: readonly Field[],
  dictionary: readonly Uint8Array[],
  random: RandomChoices,
): void {
  const at = random.below(list.length + 1)
  const field = list[at]
  switch (random.below(9)) {
    case 0:
      if (field !== undefined) list.splice(at, 1)
      return
    case 1:
      if (another.length > 0) list.splice(at, 0, cloned(random.pick(another)))
      return
    case 2:
      if (field !== undefined) field.number = 1 + random.below(16)
      return
    case 3:
      if (field !== undefined && field.wire === 0) field.bytes = varint(random.pick(edgeVarints))
      return
    case 4:
      list.splice(at, 0, { number: 1 + random.below(16), wire: 2, bytes: word(dictionary, random), fields: undefined })
      return
    case 5:
      if (field?.wire === 2) Object.assign(field, { bytes: word(dictionary, random), fields: undefined })
      return
    case 6:
      if (others.length > 0) list.splice(at, 0, cloned(random.pick(others)))
      return
    case 7:
      if (field !== undefined && random.chance(0.1)) {
        const times = Math.min(2 ** random.below(14), Math.floor(500_000 / (sizeOf(field) + 1)))
        for (let count = 0; count < times; count += 1) list.push(field)
      }
      return
    default:
      if (field !== undefined && random.chance(0.1)) wrap(list, at, 2 ** random.below(9), random)
  }
}

/** A field inside itself, many times: a message that contains itself, such as a Struct. */
function wrap(list: Field[], at: number, times: number, random: RandomChoices): void {
  const numbers = [list[at]!.number, 1 + random.below(6)]
  for (let count = 0; count < times; count += 1) {
    list[at] = { number: numbers[count % 2] as number, wire: 2, bytes: new Uint8Array(), fields: [list[at] as Field] }
  }
}

function word(dictionary: readonly Uint8Array[], random: RandomChoices): Uint8Array {
  if (dictionary.length > 0 && random.chance(0.7)) return random.pick(dictionary)
  return Uint8Array.from({ length: random.below(6) }, () => random.below(256))
}

function sizeOf({ bytes, fields }: Field): number {
  return fields === undefined ? bytes.length : fields.reduce((sum, field) => sum + sizeOf(field) + 2, 0)
}

function cloned(field: Field): Field {
  return { ...field, fields: field.fields?.map(cloned) }
}
