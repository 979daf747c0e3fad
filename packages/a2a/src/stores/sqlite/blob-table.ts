/** The table of large bytes and long texts, stored once for all users under the SHA-256 of their content. */
import { hash } from 'node:crypto'
import type { SqliteDatabase } from './database.ts'

/** A longer status or metadata would be rewritten with every append if it were in the row of the task. */
const maxInRow = 4_096
/** The prefix of a reference in a row. JSON of an object never begins like this. */
const blobReferenceMark = '@'

export interface SqliteBlob {
  readonly digest: string
  /** Bytes that were base64, or a text that was not. */
  readonly content: Uint8Array | string
}

/** The bytes of a `raw` part. Base64 in another form than ours is stored as text. */
export function toSqliteBlob(raw: string): SqliteBlob {
  const bytes = Buffer.from(raw, 'base64')
  return bytes.toString('base64') === raw ? { digest: hash('sha256', bytes), content: bytes } : textBlob(raw)
}

/** Texts have a separate kind of digest: the same bytes may have been base64 elsewhere. */
function textBlob(text: string): SqliteBlob {
  return { digest: `${hash('sha256', text)}t`, content: text }
}

/** What the row stores: the text itself, or a reference to it. */
export function toRowText(text: string, blobs: SqliteBlob[]): string {
  if (text.length <= maxInRow) return text
  const blob = textBlob(text)
  blobs.push(blob)
  return blobReferenceMark + blob.digest
}

export type BlobTable = ReturnType<typeof createBlobTable>

export function createBlobTable(database: SqliteDatabase) {
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
    if (content === undefined) throw new Error(`The database has no content for ${digest}`)
    return typeof content === 'string' ? content : Buffer.from(content).toString('base64')
  }

  return {
    keep(task: number, blobs: readonly SqliteBlob[]): void {
      for (const { digest, content } of blobs) {
        insert.run(digest, content)
        use.run(task, digest)
      }
    },
    textOf,
    /** The reverse of `toRowText`. */
    fromRow: (text: string): string =>
      text.startsWith(blobReferenceMark) ? textOf(text.slice(blobReferenceMark.length)) : text,
    /** Removes the blobs that no other task uses, and returns their number. */
    release(task: number): number {
      const blobs = usedBy.all(task)
      if (blobs.length === 0) return 0
      endUse.run(task)
      return blobs.reduce((removed, { blob }) => removed + removeUnused.run(blob), 0)
    },
  }
}
