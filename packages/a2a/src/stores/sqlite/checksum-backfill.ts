/** Adds the checksum to rows of older versions, some at a time, between the writes of the store. */
import { crc32 } from 'node:zlib'
import type { Backfill, BackfillProgress } from '../backfill.ts'
import { type ChecksummedTable, checksummedTables } from '../migration-step.ts'
import type { SqliteDatabase } from './database.ts'

/** A batch is one step of the event loop: at most this many rows, and about this many characters. */
const rowsPerBatch = 200
const charactersPerBatch = 500_000

interface BackfillRow {
  readonly cursor: number
  readonly until: number
  readonly filled: number
}

/** `write` runs its work in a transaction of the store. Returns none if nothing is left, which is the case in a new file. */
export function createChecksumBackfills(
  database: SqliteDatabase,
  write: <Result>(work: () => Result) => Promise<Result>,
): readonly Backfill[] {
  const find = database.prepare<BackfillRow>('SELECT cursor, until, filled FROM backfills WHERE name = ?')
  const move = database.prepare('UPDATE backfills SET cursor = ?, filled = ? WHERE name = ?')
  const standing = (table: string): BackfillProgress | undefined => {
    const row = find.get(table)
    return row === undefined || row.cursor >= row.until ? undefined : { ...row, rows: row.filled }
  }

  function backfillOf({ table, key, texts }: ChecksummedTable): Backfill {
    const next = database.prepare<Record<string, number | string>>(`
      SELECT ${key} AS key, ${texts.join(', ')} FROM ${table}
      WHERE ${key} > ? AND ${key} <= ? AND checksum IS NULL ORDER BY ${key} LIMIT ${rowsPerBatch}`)
    const fill = database.prepare(`UPDATE ${table} SET checksum = ? WHERE ${key} = ?`)

    function batch({ cursor, until, rows }: BackfillProgress): BackfillProgress | undefined {
      const found: (readonly [key: number, checksum: number])[] = []
      let characters = 0
      for (const row of next.iterate(cursor, until)) {
        found.push([row['key'] as number, checksumOf(texts.map((name) => row[name] as string))])
        for (const name of texts) characters += (row[name] as string).length
        if (characters >= charactersPerBatch) break
      }
      for (const [position, checksum] of found) fill.run(checksum, position)
      const isLast = characters < charactersPerBatch && found.length < rowsPerBatch
      const reached = isLast ? until : (found.at(-1)?.[0] ?? until)
      move.run(reached, rows + found.length, table)
      return reached >= until ? undefined : { cursor: reached, until, rows: rows + found.length }
    }

    return {
      name: `checksums of ${table}`,
      begin: async () => standing(table),
      batch: (progress) => write(() => batch(progress)),
    }
  }

  return checksummedTables.filter(({ table }) => standing(table) !== undefined).map(backfillOf)
}

/** The CRC-32 of texts, as if they were one. */
export function checksumOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, sum), 0)
}
