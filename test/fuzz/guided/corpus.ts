/** The inputs that are kept in the repository: one file for each target, one line for each input, regressions with a name. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

export interface CorpusEntry {
  readonly input: Uint8Array
  /** Of an input that once broke something: what it broke. */
  readonly regression?: string
}

type Line = { readonly regression?: string } & ({ readonly text: string } | { readonly base64: string })

const fileOf = (target: string): URL => new URL(`../corpus/${target}.jsonl`, import.meta.url)

export function readCorpus(target: string): readonly CorpusEntry[] {
  const file = fileOf(target)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((text) => {
    const line = JSON.parse(text) as Line
    const input = 'text' in line ? Buffer.from(line.text) : Buffer.from(line.base64, 'base64')
    return { input, ...(line.regression !== undefined ? { regression: line.regression } : {}) }
  })
}

export function writeCorpus(target: string, entries: readonly CorpusEntry[]): void {
  writeFileSync(fileOf(target), entries.map((entry) => `${JSON.stringify(lineOf(entry))}\n`).join(''))
}

function lineOf({ input, regression }: CorpusEntry): Line {
  const text = Buffer.from(input).toString()
  const isText = Buffer.from(text).equals(input)
  return {
    ...(regression !== undefined ? { regression } : {}),
    ...(isText ? { text } : { base64: Buffer.from(input).toString('base64') }),
  }
}
