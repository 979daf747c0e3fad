/** Attachments of a message: limits of number and size, the errors for files that exceed them, and their parts. */
import type { Part } from '@parley/a2a'
import { formatBytes } from '../../../components/format.ts'

/** The hub accepts requests of 20 MB, and base64 turns three bytes into four. */
export const maxAttachmentBytes = 14_000_000
export const maxAttachments = 20

export interface AttachmentResult {
  readonly files: readonly File[]
  readonly refused: readonly string[]
}

export function addAttachments(before: readonly File[], more: readonly File[]): AttachmentResult {
  const files = [...before]
  const refused: string[] = []
  let sum = before.reduce((total, { size }) => total + size, 0)
  for (const file of more) {
    if (files.some((known) => isSame(known, file))) continue
    if (files.length >= maxAttachments)
      refused.push(`${file.name}: a message can have at most ${maxAttachments} files.`)
    else if (sum + file.size > maxAttachmentBytes) {
      refused.push(
        `${file.name} (${formatBytes(file.size)}): the files of a message can have at most ${formatBytes(maxAttachmentBytes)}.`,
      )
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

/** Parses the data field: JSON, or why it is invalid. */
export function parseDataPart(text: string): { readonly data: unknown } | { readonly mistake: string } | undefined {
  if (text.trim() === '') return undefined
  try {
    return { data: JSON.parse(text) as unknown }
  } catch (reason) {
    return { mistake: reason instanceof Error ? reason.message : 'Invalid JSON' }
  }
}

/** Files are read when the message is sent. */
export async function fileParts(files: readonly File[]): Promise<readonly Part[]> {
  return Promise.all(
    files.map(async (file): Promise<Part> => {
      const raw = base64(new Uint8Array(await file.arrayBuffer()))
      return {
        raw,
        ...(file.name === '' ? {} : { filename: file.name }),
        ...(file.type === '' ? {} : { mediaType: file.type }),
      }
    }),
  )
}

function base64(bytes: Uint8Array): string {
  // btoa takes a string, and the stack limits the number of arguments of fromCharCode.
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)))
  }
  return btoa(pieces.join(''))
}
