/** Converts files to message parts. Files are read when the message is sent. */
import type { Part } from '@parley/a2a'

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
