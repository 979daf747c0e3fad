/**
 * The entries of a dump as rows of a store. Both databases have the same tables, and a column has the name of its member in snake case.
 * They differ in what a text may contain, which the caller converts.
 */
import { crc32 } from 'node:zlib'
import { isTerminal, taskStates } from '../../model/state.ts'
import type { TaskStatus } from '../../model/task.ts'
import { keyFromBytes, keyToBytes } from '../dump-access.ts'
import type { BlobEntry, DumpEntry } from './dump-entry.ts'
import { entryMembers, memberName } from './entry-line.ts'
import type { ReportDamage } from './task-groups.ts'

/** Blobs are stored in another way by each store. */
export type RowEntry = Exclude<DumpEntry, BlobEntry>
export type EntryOf<Type> = Extract<RowEntry, { readonly type: Type }>

export type EntryRow = Readonly<Record<string, unknown>>

export const entryTables: Readonly<Record<RowEntry['type'], string>> = {
  task: 'tasks',
  log: 'log',
  snapshot: 'snapshots',
  push: 'pushes',
  attempt: 'push_attempts',
  kv: 'notes',
  claim: 'messages',
  key: 'keys',
}

/** The columns that are not named after their member, or are not a member alone. */
const expressions: Readonly<Record<string, string>> = {
  'task.isLogDropped': 'log_dropped',
  'task.isLeased': 'holder IS NOT NULL AND NOT finished',
  'task.due': 'due_kind, due_at',
  'snapshot.task': 'folded',
  'push.number': 'ref',
}

/** The holder of a task whose process is gone. Its lease has expired. */
const formerHolder = 'loaded'

function columnOf(type: RowEntry['type'], name: string): string {
  return expressions[`${type}.${name}`] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * What a query selects for `entryFromRow`. `members` has the expressions of those members that this database stores in another way,
 * `json` converts the columns with JSON.
 */
export function selectedMembers(
  type: RowEntry['type'],
  members: Readonly<Record<string, string>> = {},
  json: (column: string) => string = (column) => column,
): string {
  const selected = entryMembers[type].map(([declared, kind]) => {
    const name = memberName(declared)
    const column = members[name] ?? columnOf(type, name)
    return kind === 'due' ? column : `${kind === 'json' ? json(column) : column} AS "${name}"`
  })
  return selected.join(', ')
}

/** `decode` converts a text of the database. The names of key-value entries are bytes in every store. */
export function entryFromRow<Type extends RowEntry['type']>(
  type: Type,
  row: EntryRow,
  decode: (text: unknown) => string,
): EntryOf<Type> {
  const entry: Record<string, unknown> = { type }
  for (const [declared, kind] of entryMembers[type]) {
    const name = memberName(declared)
    const value = row[name]
    if (kind === 'due') {
      if (row['due_kind'] !== null && row['due_at'] !== null)
        entry[name] = { kind: row['due_kind'], at: integerFrom(row['due_at']) }
    } else if (value === null) continue
    else if (kind === 'text') entry[name] = type === 'kv' ? keyFromBytes(value as Uint8Array) : decode(value)
    else if (kind === 'integer') entry[name] = integerFrom(value)
    else if (kind === 'json') entry[name] = value
    else entry[name] = kind === 'flag' ? Boolean(value) : Number(value)
  }
  return entry as unknown as EntryOf<Type>
}

/** A time that never comes may be beyond the numbers that JSON keeps exactly. Drivers return large integers as texts. */
function integerFrom(value: unknown): number {
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER)
}

/**
 * All columns of the entry that the stores have in common, always in the same order. `task` is the number by which the store knows the
 * task, `encode` converts a text for the database.
 */
export function rowFromEntry(entry: RowEntry, task: number, encode: (text: string) => string): EntryRow {
  const row: Record<string, unknown> = {}
  const members = entry as unknown as EntryRow
  for (const [declared, kind] of entryMembers[entry.type]) {
    const name = memberName(declared)
    const value = members[name] ?? null
    if (kind === 'text' && value !== null)
      row[columnOf(entry.type, name)] = entry.type === 'kv' ? keyToBytes(value as string) : encode(value as string)
    else if (kind !== 'due' && name !== 'isLeased') row[columnOf(entry.type, name)] = value
  }
  switch (entry.type) {
    case 'task': {
      const { state } = JSON.parse(entry.status) as TaskStatus
      const finished = isTerminal(state)
      const isLeased = entry.isLeased && !finished
      const { kind = null, at = null } = entry.due ?? {}
      const lease = { holder: isLeased ? formerHolder : null, lease_until: isLeased ? 0 : null, fence: 0 }
      return {
        ref: task,
        ...row,
        ...lease,
        state: Math.max(0, taskStates.indexOf(state)),
        finished,
        due_kind: kind,
        due_at: at,
      }
    }
    case 'log':
      return { task, ...row, checksum: textChecksum(entry.records) }
    case 'snapshot':
      return { task, ...row, checksum: textChecksum(entry.task, entry.internal) }
    case 'push':
      return { task, ...row, fence: 0 }
    case 'attempt':
      return { task, ...row }
    case 'claim': {
      const { digest: key, ...claim } = row
      return { key, ...claim }
    }
    default:
      return row
  }
}

/** The checksum of the texts of a log or a snapshot: the CRC-32 of their UTF-8, as if they were one. A changed letter is noticed by it. */
export function textChecksum(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, sum), 0)
}

/** Compares a row of `selectedMembers` with its column `checksum`. */
export function reportChecksum(type: 'log' | 'snapshot', row: EntryRow, report: ReportDamage): void {
  const [texts, what] =
    type === 'log'
      ? [['records'], `the log at position ${String(row['position'])}`]
      : [['task', 'internal'], `the snapshot of the task with ref ${String(row['task_ref'])}`]
  if (Number(row['checksum']) !== textChecksum(...texts.map((name) => row[name] as string)))
    report(`The text of ${what} was changed after it was written`)
}
