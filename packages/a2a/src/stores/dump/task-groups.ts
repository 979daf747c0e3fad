/**
 * Reads the tables of a store side by side, each in the order of its tasks, and puts the entries of each task together: one pass over
 * each table instead of five queries for each task.
 */
import { omitUndefined } from '../../model/struct.ts'
import { findReferences, replaceReferences, type ReferringJson } from './blob-references.ts'
import type {
  AttemptEntry,
  BlobEntry,
  DumpEntry,
  JsonText,
  LogEntry,
  PushEntry,
  SnapshotEntry,
  TaskEntry,
} from './dump-entry.ts'
import type { ReadEntriesOptions } from './store-dump.ts'

/** A position in the rows of a query that are ordered by their task, so that several queries can be read side by side. */
export interface RowCursor<Row> {
  /** The row at the position; `undefined` after the last. */
  readonly row: Row | undefined
  /** Moves to the next row. Returns a promise only if it has to wait. */
  advance(): void | Promise<void>
}

/** Over rows that are read one at a time. */
export function cursorOfRows<Row>(rows: Iterator<Row>): RowCursor<Row> {
  let current = rows.next()
  return {
    get row() {
      return current.done === true ? undefined : current.value
    },
    advance: () => void (current = rows.next()),
  }
}

/** Over rows that arrive in pages. An empty page is the last. */
export async function cursorOfPages<Row>(next: () => Promise<readonly Row[]>): Promise<RowCursor<Row>> {
  let page = await next()
  let index = 0
  return {
    get row() {
      return page[index]
    },
    advance() {
      index += 1
      if (index < page.length || page.length === 0) return undefined
      return next().then((rows) => {
        page = rows
        index = 0
      })
    },
  }
}

/** An entry of a task, and the number by which the store knows the task. */
export interface RowOfTask<Entry> {
  readonly ref: number
  readonly entry: Entry
}

/** All cursors are ordered by `ref`. */
export interface TaskTables {
  readonly tasks: RowCursor<RowOfTask<TaskEntry>>
  readonly log: RowCursor<RowOfTask<LogEntry>>
  readonly snapshots: RowCursor<RowOfTask<SnapshotEntry>>
  readonly pushes: RowCursor<RowOfTask<PushEntry>>
  readonly attempts: RowCursor<RowOfTask<AttemptEntry>>
  readonly loadBlob: LoadBlob
}

/**
 * Loads the blob that a store keeps under a digest; the entry has the digest of dumps. Throws an error for the operator if the blob
 * is missing or damaged.
 */
export type LoadBlob = (ref: number, digest: string) => BlobEntry | Promise<BlobEntry>

/** Receives a damage; throws if the reading has to end. */
export type ReportDamage = (message: string, taskId?: string, table?: string) => void

export function damageReporter({ onDamage }: ReadEntriesOptions): ReportDamage {
  return (message, taskId, table) => {
    if (onDamage !== undefined) return onDamage({ message, ...omitUndefined({ taskId, table }) })
    throw new Error(
      `${taskId === undefined ? '' : `Task ${taskId}: `}${message}. Run "parley verify" for a report of all damage.`,
    )
  }
}

const tableOf = { records: 'log', status: 'tasks', task: 'snapshots' } as const

/** The entries of all tasks. */
export async function* taskGroups(
  tables: TaskTables,
  report: ReportDamage,
  { onSnapshot }: ReadEntriesOptions = {},
): AsyncGenerator<DumpEntry, void, undefined> {
  const { tasks, log, snapshots, pushes, attempts } = tables
  for (let task = tasks.row; task !== undefined; task = tasks.row) {
    const { ref, entry } = task
    const blobs = createTaskBlobs(ref, entry.id, tables.loadBlob, report)
    if (onSnapshot !== undefined && snapshots.row?.ref === ref) onSnapshot(snapshots.row.entry.seq)
    const status = blobs.inText('status', entry.status)
    yield status === undefined ? entry : { ...entry, status: await status.text() }
    if (status !== undefined) yield* status.blobs()
    for await (const row of rowsOf(log, ref, 'log', report)) {
      const records = blobs.inText('records', row.records)
      yield records === undefined ? row : { ...row, records: await records.text() }
      if (records !== undefined) yield* records.blobs()
    }
    for await (const row of rowsOf(snapshots, ref, 'snapshots', report)) {
      const folded = blobs.inText('task', row.task)
      yield folded === undefined ? row : { ...row, task: await folded.text() }
      if (folded !== undefined) yield* folded.blobs()
    }
    for await (const row of rowsOf(pushes, ref, 'pushes', report)) yield row
    for await (const row of rowsOf(attempts, ref, 'push_attempts', report)) yield row
    const moving = tasks.advance()
    if (moving !== undefined) await moving
  }
  // All rows that are left belong to no task.
  for await (const _ of rowsOf(log, Infinity, 'log', report));
  for await (const _ of rowsOf(snapshots, Infinity, 'snapshots', report));
  for await (const _ of rowsOf(pushes, Infinity, 'pushes', report));
  for await (const _ of rowsOf(attempts, Infinity, 'push_attempts', report));
}

/** The rows of a task in a table. Rows of earlier tasks, which do not exist, are reported. */
function rowsOf<Entry>(
  cursor: RowCursor<RowOfTask<Entry>>,
  ref: number,
  table: string,
  report: ReportDamage,
): Iterable<Entry> | AsyncIterable<Entry> {
  return cursor.row === undefined || cursor.row.ref > ref ? [] : readRows(cursor, ref, table, report)
}

async function* readRows<Entry>(
  cursor: RowCursor<RowOfTask<Entry>>,
  ref: number,
  table: string,
  report: ReportDamage,
): AsyncGenerator<Entry, void, undefined> {
  for (let { row } = cursor; row !== undefined && row.ref <= ref; row = cursor.row) {
    if (row.ref === ref) yield row.entry
    else report(`A row of the table ${table} belongs to no task (ref ${row.ref})`, undefined, table)
    const moving = cursor.advance()
    if (moving !== undefined) await moving
  }
}

/** The references of one text: the text with the digests of dumps, and the blobs that no earlier entry referred to. */
interface TextBlobs {
  text(): Promise<JsonText>
  blobs(): AsyncIterable<BlobEntry>
}

function createTaskBlobs(ref: number, taskId: string, loadBlob: LoadBlob, report: ReportDamage) {
  /** The digest in the dump by that of the store, for each blob that an entry referred to. */
  const known = new Map<string, string>()
  const returned = new Set<string>()
  const damaged = new Set<string>()

  async function load(digest: string): Promise<BlobEntry | undefined> {
    if (damaged.has(digest)) return undefined
    try {
      return await loadBlob(ref, digest)
    } catch (error) {
      damaged.add(digest)
      report(error instanceof Error ? error.message : String(error), taskId, 'blobs')
      return undefined
    }
  }

  return {
    /** `undefined` for the usual text, which has no references. */
    inText(what: ReferringJson, text: JsonText): TextBlobs | undefined {
      let references: readonly string[]
      try {
        references = findReferences(what, text)
      } catch {
        report(`The stored ${what === 'records' ? 'log' : what} is not valid JSON`, taskId, tableOf[what])
        return undefined
      }
      if (references.length === 0) return undefined
      const added = references.filter((digest) => !known.has(digest))
      return {
        async text() {
          for (const digest of added) {
            // Only the digest of a text differs between stores. It is loaded again afterwards, instead of all being kept.
            const isText = digest.endsWith('t')
            known.set(digest, isText ? ((await load(digest))?.digest ?? digest) : digest)
          }
          const isSame = references.every((digest) => known.get(digest) === digest)
          return isSame ? text : replaceReferences(what, text, known)
        },
        async *blobs() {
          for (const digest of added) {
            if (returned.has(known.get(digest) ?? digest)) continue
            const blob = await load(digest)
            if (blob === undefined) continue
            returned.add(blob.digest)
            yield blob
          }
        },
      }
    },
  }
}
