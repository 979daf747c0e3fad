/** Large bytes of a task, under the SHA-256 of their content, and the functions that restore them. */
import { hash } from 'node:crypto'
import type { PostgresDatabase } from './database.ts'

export interface PostgresBlob {
  readonly digest: string
  /** In base64. */
  readonly content: string
}

/** Texts have a separate kind of digest: the same bytes may have been base64 elsewhere. */
const textMark = 't'

/** The bytes of a `raw` part. Base64 in another form than ours is stored as text. */
export function toPostgresBlob(raw: string): PostgresBlob {
  const bytes = Buffer.from(raw, 'base64')
  if (bytes.toString('base64') === raw) return { digest: hash('sha256', bytes), content: raw }
  const text = Buffer.from(JSON.stringify(raw))
  return { digest: hash('sha256', text) + textMark, content: text.toString('base64') }
}

function rawOf(digest: string, content: string): string {
  if (!digest.endsWith(textMark)) return content
  return JSON.parse(Buffer.from(content, 'base64').toString()) as string
}

/** Changes a value by resolving its references, as the functions of `blobs.ts` do. */
type Splice<Value> = (value: Value, find: (digest: string) => string) => Value

export type PostgresBlobs = ReturnType<typeof createPostgresBlobs>

export function createPostgresBlobs(database: PostgresDatabase, schema: string) {
  // The result must be base64 without the line breaks that Postgres adds.
  const load = `SELECT digest, translate(encode(content, 'base64'), E'\\n', '') AS content
    FROM ${schema}.blobs WHERE task = $1 AND digest = ANY ($2)`

  return {
    /** Collects the references first, then loads them, then inserts them. */
    async restore<Value>(task: unknown, value: Value, splice: Splice<Value>): Promise<Value> {
      const wanted = new Set<string>()
      splice(value, (digest) => {
        wanted.add(digest)
        return ''
      })
      if (wanted.size === 0) return value
      const rows = await database.queryWithRetry<PostgresBlob>(load, task, [...wanted])
      const found = new Map(rows.map(({ digest, content }) => [digest, rawOf(digest, content)]))
      return splice(value, (digest) => {
        const raw = found.get(digest)
        if (raw === undefined) throw new Error(`The database has no content for ${digest}`)
        return raw
      })
    },
  }
}
