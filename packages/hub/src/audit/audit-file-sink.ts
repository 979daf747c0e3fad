/**
 * A file of JSON lines for the audit. It is opened for appending, and synced before the export moves on. If the file is moved away or
 * removed (logrotate), the next batch goes to a new one.
 */
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { AuditSink } from './audit-export.ts'

/** A line of the audit is shorter. */
const longestLine = 65_536

export function auditFileSink(name: string, path: string): AuditSink {
  let file: { readonly handle: FileHandle; readonly inode: number; readonly device: number } | undefined

  async function close(): Promise<void> {
    const { handle } = file ?? {}
    file = undefined
    await handle?.close()
  }

  async function current(): Promise<FileHandle> {
    if (file !== undefined) {
      const found = await stat(path).catch(() => undefined)
      if (found?.ino !== file.inode || found.dev !== file.device) await close()
    }
    if (file === undefined) {
      // Only the operator may read who did what.
      const handle = await open(path, 'a+', 0o600)
      try {
        await endLastLine(handle)
        const { ino: inode, dev: device } = await handle.stat()
        file = { handle, inode, device }
      } catch (error) {
        await handle.close()
        throw error
      }
    }
    return file.handle
  }

  return {
    name,
    async write({ text }) {
      const handle = await current()
      try {
        await handle.appendFile(text)
        await handle.sync()
      } catch (error) {
        // Part of it may be written: the next attempt begins with a look at the end of the file.
        await close().catch(() => {})
        throw error
      }
    },
    close,
  }
}

/**
 * A process that was killed while it wrote leaves the beginning of a line. It is removed, because its entry is written again. A line
 * that is complete but for its line break stays.
 */
async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat()
  if (size === 0) return
  const from = Math.max(0, size - longestLine)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
  const tail = buffer.subarray(0, bytesRead)
  const lineStart = tail.lastIndexOf(0x0a) + 1
  const line = tail.subarray(lineStart).toString()
  if (line === '') return
  if (line.startsWith('{"id":') && !isJson(line)) await handle.truncate(from + lineStart)
  else await handle.appendFile('\n')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
