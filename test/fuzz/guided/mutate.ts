/** The mutator of a format: structured mutations where the input has a structure, bytes where it has none. */
import { splitHttpInput } from './http-input.ts'
import { concat, mutateBytes, mostBytes } from './mutate-bytes.ts'
import { mutateJson } from './mutate-json.ts'
import { mutateProtobuf } from './mutate-protobuf.ts'
import type { RandomChoices } from './random.ts'
import type { InputFormat } from './target.ts'

export type Mutate = (input: Uint8Array, other: Uint8Array) => Uint8Array

export function createMutator(format: InputFormat, words: readonly string[], random: RandomChoices): Mutate {
  const dictionary = words.map((word) => Uint8Array.from(Buffer.from(word)))
  const bytes: Mutate = (input, other) => mutateBytes(input, other, dictionary, random)
  const json: Mutate = (input, other) => mutateJson(input, other, words, random) ?? bytes(input, other)

  /** The head by lines and words, the body as JSON. */
  const http: Mutate = (input, other) => {
    const { head, body } = splitHttpInput(input)
    if (random.chance(0.7)) return joined(head, json(body, splitHttpInput(other).body))
    const lines = head.split('\n')
    const at = random.below(lines.length)
    const theirs = splitHttpInput(other).head.split('\n')
    if (random.chance(0.2)) lines.splice(at, random.below(2), random.pick(theirs))
    else lines[at] = mutateLine(lines[at] as string)
    return joined(lines.join('\n'), body)
  }

  function mutateLine(line: string): string {
    const at = random.below(line.length + 1)
    if (random.chance(0.5)) return line.slice(0, at) + random.pick(words) + line.slice(at + random.below(8))
    return Buffer.from(bytes(Buffer.from(line, 'latin1'), new Uint8Array())).toString('latin1')
  }

  const structured: Mutate | undefined = {
    json,
    http,
    protobuf: (input: Uint8Array, other: Uint8Array) =>
      mutateProtobuf(input, other, dictionary, random) ?? bytes(input, other),
    text: undefined,
  }[format]

  return (input, other) => {
    let out = input
    for (let rounds = random.chance(0.7) ? 1 : 2 + random.below(3); rounds > 0; rounds -= 1) {
      out = structured !== undefined && random.chance(0.85) ? structured(out, other) : bytes(out, other)
    }
    return out.length > mostBytes ? out.subarray(0, mostBytes) : out
  }
}

function joined(head: string, body: Uint8Array): Uint8Array {
  return concat(Buffer.from(`${head}\n\n`, 'latin1'), body)
}
