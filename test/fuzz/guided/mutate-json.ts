/** Mutations of a JSON document that leave it a JSON document. */
import { bytesOfText } from './target.ts'
import type { RandomChoices } from './random.ts'

type Holder = Record<string | number, unknown>
interface Place {
  readonly holder: Holder
  readonly key: string | number
}

const edgeValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  2 ** 53,
  '',
  ' ',
  [],
  {},
  [[]],
  [null],
  [{}],
  '\ud800',
  '\u0000',
  '\u2028',
  '\r\n',
  '💥',
  '../..',
  '%00',
  'AA==AA',
  'not a url',
  'http://',
  '-0',
  '1e3',
  'x'.repeat(300),
  { constructor: { prototype: { x: true } } },
  { toString: 1 },
  { length: -1 },
  { then: 'x' },
  { toJSON: null },
]

/** `undefined` if the input is no JSON. */
export function mutateJson(
  input: Uint8Array,
  other: Uint8Array,
  dictionary: readonly string[],
  random: RandomChoices,
): Uint8Array | undefined {
  const root = parsed(input)
  if (root === undefined) return undefined
  const holder: Holder = { root: root.value }
  for (let rounds = 1 + random.below(3); rounds > 0; rounds -= 1) {
    const places = placesIn(holder)
    mutatePlace(random.pick(places), places, parsed(other)?.value, dictionary, random)
  }
  const text = JSON.stringify(holder['root']) ?? 'null'
  return bytesOfText(random.chance(0.05) ? twist(text, random) : text)
}

function parsed(bytes: Uint8Array): { value: unknown } | undefined {
  if (bytes.length > 100_000) return undefined
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) as unknown }
  } catch {
    return undefined
  }
}

function placesIn(root: Holder): Place[] {
  const found: Place[] = []
  const open: object[] = [root]
  for (let next = open.pop(); next !== undefined && found.length < 2_000; next = open.pop()) {
    for (const key of Array.isArray(next) ? next.keys() : Object.keys(next)) {
      found.push({ holder: next as Holder, key })
      const value = (next as Holder)[key]
      if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
  return found
}

function mutatePlace(
  { holder, key }: Place,
  places: readonly Place[],
  other: unknown,
  dictionary: readonly string[],
  random: RandomChoices,
): void {
  const value = holder[key]
  const word = dictionary.length === 0 ? 'x' : random.pick(dictionary)
  const from = random.pick(places)
  switch (random.below(12)) {
    case 0:
    case 1:
      return put(holder, key, copy(random.pick(edgeValues)))
    case 2:
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else if (key !== 'root') delete holder[key]
      return
    case 3:
      return put(holder, key, copy(from.holder[from.key]))
    case 4:
      if (isObject(value))
        put(value, word, random.chance(0.5) ? copy(random.pick(edgeValues)) : copy(from.holder[from.key]))
      else if (Array.isArray(value)) value.push(copy(from.holder[from.key]))
      return
    case 5:
      return put(holder, key, word)
    case 6:
      return put(holder, key, typeof value === 'string' ? Number(value) || 7 : JSON.stringify(value))
    case 7:
      return put(holder, key, random.chance(0.5) ? [value] : { [word]: value })
    case 8:
      if (Array.isArray(value) && value.length > 0 && random.chance(0.2)) return repeat(value, random)
      if (isObject(value) && random.chance(0.1)) return widen(value, word, random)
      if (random.chance(0.1)) put(holder, key, nested(value, 2 ** random.below(13), word, random))
      return
    case 9:
      if (!Array.isArray(holder) && key !== 'root') {
        delete holder[key]
        put(holder, word, value)
      }
      return
    case 10:
      if (other !== undefined) {
        const places = placesIn({ root: other })
        const { holder: theirs, key: at } = random.pick(places)
        put(holder, key, copy(theirs[at]))
      }
      return
    default:
      if (typeof value === 'string') put(holder, key, mutateString(value, word, random))
      else if (typeof value === 'number') put(holder, key, value + random.below(3) - 1)
  }
}

function mutateString(value: string, word: string, random: RandomChoices): string {
  const at = random.below(value.length + 1)
  if (random.chance(0.02))
    return value.repeat(Math.min(1 + random.below(5_000), Math.ceil(400_000 / (value.length + 1))))
  return (
    value.slice(0, at) +
    (random.chance(0.5) ? word : String.fromCharCode(random.below(0x300))) +
    value.slice(at + random.below(3))
  )
}

function repeat(list: unknown[], random: RandomChoices): void {
  const times = 2 ** random.below(14)
  const first = list[0]
  if ((JSON.stringify(first)?.length ?? 4) * times > 800_000) return
  for (let count = 0; count < times; count += 1) list.push(first)
}

function widen(value: Holder, word: string, random: RandomChoices): void {
  const times = 2 ** random.below(14)
  for (let count = 0; count < times; count += 1) value[`${word}${count}`] = count
}

function nested(value: unknown, times: number, word: string, random: RandomChoices): unknown {
  const inArrays = random.chance(0.5)
  let out = value
  for (let count = 0; count < Math.min(times, 3_000); count += 1) out = inArrays ? [out] : { [word]: out }
  return out
}

/** What a parser takes for JSON and a serializer never writes: keys that come twice, spellings of numbers, `__proto__`. */
function twist(text: string, random: RandomChoices): string {
  switch (random.below(4)) {
    case 0:
      return text.replace(/"(\w+)":/, '"$1":null,"$1":')
    case 1:
      return text.replace(/"\w+":/, '"__proto__":')
    case 2:
      return text.replace(/\b\d+\b/, random.pick(['1e999', '-0', '1E+2', '0.1e1', '123456789012345678901234567890']))
    default:
      return text.replaceAll(/[,:]/g, (mark) => ` ${mark}\n`)
  }
}

function copy(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown)
}

function put(holder: object, key: string | number, value: unknown): void {
  if (key === '__proto__') return
  ;(holder as Holder)[key] = value
}

function isObject(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
