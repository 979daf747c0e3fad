/** Files as parts. Loaded when there is one: most messages are text. */
import type { Part } from '../model/task.ts'
import type { Attachment } from './contract.ts'

export async function attach(file: Exclude<Attachment, URL | Part>): Promise<Part> {
  if (file instanceof Blob) {
    const raw = base64(new Uint8Array(await file.arrayBuffer()))
    return part(raw, 'name' in file ? String(file.name) : '', file.type)
  }
  if ('byteLength' in file) return part(base64(file instanceof ArrayBuffer ? new Uint8Array(file) : file))
  const { bytes, name, mediaType } = file
  return part(typeof bytes === 'string' ? bytes : base64(bytes), name, mediaType)
}

function part(raw: string, filename = '', mediaType = ''): Part {
  return { raw, ...(filename !== '' ? { filename } : {}), ...(mediaType !== '' ? { mediaType } : {}) }
}

/** By the platform where it can. */
export function base64(bytes: Uint8Array & { toBase64?(): string }): string {
  if (bytes.toBase64 !== undefined) return bytes.toBase64()
  // btoa takes a string, and fromCharCode no more arguments than the stack holds.
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)))
  }
  return btoa(pieces.join(''))
}
