/** Writes to the standard output so that nothing is lost unnoticed on a full disk or in a closed pipe. */
import { fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'

/** Resolves when all of it is written. Rejects otherwise; a part may be written. */
export async function writeCompletely(stream: Writable, data: string | Uint8Array): Promise<void> {
  const { fd } = stream as { readonly fd?: unknown }
  // Node ignores that a file took only the first part of a write, which is how a disk becomes full.
  if (typeof fd === 'number' && fstatSync(fd).isFile()) return writeFile(fd, Buffer.from(data))
  // The stream also emits the error, which would end the process without a listener.
  const ignore = (): void => {}
  stream.on('error', ignore)
  await new Promise<void>((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()))
  })
  stream.removeListener('error', ignore)
}

function writeFile(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}
