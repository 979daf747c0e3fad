/** Where large bytes and long texts are kept, once for all who have them, under the SHA-256 of their content. */
import { hash } from 'node:crypto'
import type { Database } from './database.ts'

/** A status or metadata longer than this would be rewritten with every append if it stood in the task's row. */
const maxInRow = 4_096
/** What stands in the row instead. JSON of an object never begins like this. */
const elsewhere = '@'

export interface Blob {
  readonly digest: string
  /** Bytes that were base64, or a text that was not. */
  readonly content: Uint8Array | string
}

/** The bytes of a `raw` part. What is not written exactly as we would write it is kept as the text it is. */
export function blobOf(raw: string): Blob {
  const bytes = Buffer.from(raw, 'base64')
  return bytes.toString('base64') === raw ? { digest: hash('sha256', bytes), content: bytes } : textBlob(raw)
}

/** Texts have digests of their own kind: the same bytes may have been base64 elsewhere. */
function textBlob(text: string): Blob {
  return { digest: `${hash('sha256', text)}t`, content: text }
}

/** What to write into the row: the text itself, or where it is. */
export function inRow(text: string, blobs: Blob[]): string {
  if (text.length <= maxInRow) return text
  const blob = textBlob(text)
  blobs.push(blob)
  return elsewhere + blob.digest
}

export type BlobTable = ReturnType<typeof createBlobTable>

export function createBlobTable(database: Database) {
  const insert = database.prepare('INSERT INTO blobs (digest, content) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const use = database.prepare(
    'INSERT INTO blob_uses (task, blob) SELECT ?, ref FROM blobs WHERE digest = ? ON CONFLICT DO NOTHING',
  )
  const find = database.prepare<{ content: Uint8Array | string }>('SELECT content FROM blobs WHERE digest = ?')
  const usedBy = database.prepare<{ blob: number }>('SELECT blob FROM blob_uses WHERE task = ?')
  const endUse = database.prepare('DELETE FROM blob_uses WHERE task = ?')
  const removeUnused = database.prepare(
    'DELETE FROM blobs WHERE ref = ? AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.ref)',
  )

  function textOf(digest: string): string {
    const content = find.get(digest)?.content
    if (content === undefined) throw new Error(`The database has lost the content ${digest}`)
    return typeof content === 'string' ? content : Buffer.from(content).toString('base64')
  }

  return {
    keep(task: number, blobs: readonly Blob[]): void {
      for (const { digest, content } of blobs) {
        insert.run(digest, content)
        use.run(task, digest)
      }
    },
    textOf,
    /** The reverse of `inRow`. */
    fromRow: (text: string): string => (text.startsWith(elsewhere) ? textOf(text.slice(elsewhere.length)) : text),
    /** What no other task has goes with this one. */
    release(task: number): void {
      const blobs = usedBy.all(task)
      if (blobs.length === 0) return
      endUse.run(task)
      for (const { blob } of blobs) removeUnused.run(blob)
    },
  }
}
