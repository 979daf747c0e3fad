/** Converts files to parts. Loaded with the first attachment, because most messages are text. */
import type { Part } from '../model/task.ts'
import type { Attachment } from './contract.ts'

export async function attachmentToPart(file: Exclude<Attachment, URL | Part>): Promise<Part> {
  if (file instanceof Blob) {
    const raw = bytesToBase64(new Uint8Array(await file.arrayBuffer()))
    return rawPart(raw, 'name' in file ? String(file.name) : '', file.type)
  }
  if ('byteLength' in file) return rawPart(bytesToBase64(file instanceof ArrayBuffer ? new Uint8Array(file) : file))
  const { bytes, name, mediaType } = file
  return rawPart(typeof bytes === 'string' ? bytes : bytesToBase64(bytes), name, mediaType)
}

function rawPart(raw: string, filename = '', mediaType = ''): Part {
  return { raw, ...(filename !== '' ? { filename } : {}), ...(mediaType !== '' ? { mediaType } : {}) }
}

/** Uses the platform's encoder where there is one. */
export function bytesToBase64(bytes: Uint8Array & { toBase64?(): string }): string {
  if (bytes.toBase64 !== undefined) return bytes.toBase64()
  // btoa takes a string, and fromCharCode takes no more arguments than the stack holds.
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)))
  }
  return btoa(pieces.join(''))
}
