/** Files that go with a message: how many, how large, and what is said of those that do not fit. */
import { bytes } from '../../parts/words.ts'

/** The hub takes requests of 20 MB, and base64 makes three bytes four. */
export const mostBytes = 14_000_000
export const mostFiles = 20

export interface Attached {
  readonly files: readonly File[]
  readonly refused: readonly string[]
}

export function attached(before: readonly File[], more: readonly File[]): Attached {
  const files = [...before]
  const refused: string[] = []
  let sum = before.reduce((total, { size }) => total + size, 0)
  for (const file of more) {
    if (files.some((known) => isSame(known, file))) continue
    if (files.length >= mostFiles) refused.push(`${file.name}: a message takes ${mostFiles} files.`)
    else if (sum + file.size > mostBytes) {
      refused.push(`${file.name} (${bytes(file.size)}): the files of a message are ${bytes(mostBytes)} at most.`)
    } else {
      files.push(file)
      sum += file.size
    }
  }
  return { files, refused }
}

function isSame(one: File, other: File): boolean {
  return one.name === other.name && one.size === other.size && one.lastModified === other.lastModified
}

/** Before it is sent: JSON, or why it is none. */
export function readData(text: string): { readonly data: unknown } | { readonly mistake: string } | undefined {
  if (text.trim() === '') return undefined
  try {
    return { data: JSON.parse(text) as unknown }
  } catch (reason) {
    return { mistake: reason instanceof Error ? reason.message : 'This is no JSON.' }
  }
}
