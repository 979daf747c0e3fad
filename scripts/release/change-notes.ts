/**
 * Change notes: one file per change that users notice, in `.changes`, so that two branches never edit the same lines. A file names the bump
 * of the version and has the text of the changelog:
 *
 *     bump: minor
 *
 *     **`parley backup`** writes a consistent copy of a running hub.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** From the smallest to the largest. */
export const bumps = ['patch', 'minor', 'major'] as const
export type Bump = (typeof bumps)[number]

export interface ChangeNote {
  /** Relative to the repository. */
  readonly file: string
  readonly bump: Bump
  readonly text: string
}

const folder = '.changes'

export function isBump(word: string | undefined): word is Bump {
  return bumps.some((bump) => bump === word)
}

/** All notes, in the order of their names. Throws if one cannot be read. */
export function readChangeNotes(root: string): readonly ChangeNote[] {
  const path = join(root, folder)
  if (!existsSync(path)) return []
  return readdirSync(path)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .toSorted()
    .map((name) => parseChangeNote(`${folder}/${name}`, readFileSync(join(path, name), 'utf8')))
}

export function parseChangeNote(file: string, content: string): ChangeNote {
  const [, bump, text = ''] = /^bump: (\S+)\n\n([\s\S]*)$/.exec(content) ?? []
  if (!isBump(bump)) throw new Error(`${file} must begin with "bump: ${bumps.join(' | ')}" and an empty line`)
  if (text.trim() === '') throw new Error(`${file} has no text`)
  return { file, bump, text: text.trim() }
}

/** Returns the file, which has the first words of the text in its name. */
export function writeChangeNote(root: string, bump: Bump, text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words.slice(0, 6).join('-')
  if (name === '') throw new Error('The note has no words')
  const file = `${folder}/${name}.md`
  mkdirSync(join(root, folder), { recursive: true })
  // `wx` fails if the file exists.
  writeFileSync(join(root, file), `bump: ${bump}\n\n${text}\n`, { flag: 'wx' })
  return file
}

/** An item of a list, with its further lines indented. */
export function noteAsItem({ text }: ChangeNote): string {
  return `- ${text.replaceAll('\n', '\n  ').replaceAll(/ +$/gm, '')}`
}
