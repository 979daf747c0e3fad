/** Large bytes of a task, under the SHA-256 of their content, and putting them back where they were taken from. */
import { hash } from 'node:crypto'
import type { Database } from './database.ts'

export interface Blob {
  readonly digest: string
  /** In base64. */
  readonly content: string
}

/** Texts have digests of their own kind: the same bytes may have been base64 elsewhere. */
const textMark = 't'

/** The bytes of a `raw` part. What is not written exactly as we would write it is kept as the text it is. */
export function blobOf(raw: string): Blob {
  const bytes = Buffer.from(raw, 'base64')
  if (bytes.toString('base64') === raw) return { digest: hash('sha256', bytes), content: raw }
  const text = Buffer.from(JSON.stringify(raw))
  return { digest: hash('sha256', text) + textMark, content: text.toString('base64') }
}

function rawOf(digest: string, content: string): string {
  if (!digest.endsWith(textMark)) return content
  return JSON.parse(Buffer.from(content, 'base64').toString()) as string
}

/** Changes a value by finding references in it, as the functions of `blobs.ts` do. */
type Splice<Value> = (value: Value, find: (digest: string) => string) => Value

export type Blobs = ReturnType<typeof createBlobs>

export function createBlobs(database: Database, schema: string) {
  // Base64 is what is wanted, and Postgres's has line breaks in it.
  const load = `SELECT digest, translate(encode(content, 'base64'), E'\\n', '') AS content
    FROM ${schema}.blobs WHERE task = $1 AND digest = ANY ($2)`

  return {
    /** First looks which ones are wanted, then has them brought, then puts them in. */
    async restore<Value>(task: unknown, value: Value, splice: Splice<Value>): Promise<Value> {
      const wanted = new Set<string>()
      splice(value, (digest) => {
        wanted.add(digest)
        return ''
      })
      if (wanted.size === 0) return value
      const rows = await database.ask<Blob>(load, task, [...wanted])
      const found = new Map(rows.map(({ digest, content }) => [digest, rawOf(digest, content)]))
      return splice(value, (digest) => {
        const raw = found.get(digest)
        if (raw === undefined) throw new Error(`The database has lost the content ${digest}`)
        return raw
      })
    },
  }
}
