/**
 * Reads a whole store at one moment, and loads a whole store: the two halves of a backup, of a move to another store and of a check.
 * `testing/dump-contract.ts` tests every promise made here.
 */
import type { DumpCounts, DumpEntry, KeyEntry } from './dump-entry.ts'
import type { ReportFinding } from './store-finding.ts'

/** Which database has the data. */
export type StoreKind = 'sqlite' | 'postgres'

/** Something in the store that cannot be read as it was written. */
export interface StoreDamage {
  /** The task it belongs to, if it belongs to one. */
  readonly taskId?: string
  /** Without `taskId`: a row of this table belongs to no task. */
  readonly table?: string
  /** What is wrong, as a sentence for the operator. */
  readonly message: string
}

/** Options of `StoreReader.entries`. */
export interface ReadEntriesOptions {
  /**
   * Receives what is damaged; the damaged part is left out and reading continues. Default: the first damage ends the reading with an
   * error.
   */
  readonly onDamage?: (damage: StoreDamage) => void
  /** Called before the entry of a task that has a snapshot, with the seq of the snapshot, which follows the log. */
  readonly onSnapshot?: (seq: number) => void
  /** Compares logs and snapshots with the checksums that were stored with them; a difference is a damage. Default false. */
  readonly isChecked?: boolean
}

/**
 * A store at one moment: what is written later is not in it, and everything committed before is. Works while other processes write
 * to the store, and does not delay them. Bounded memory: some rows and one blob at a time.
 */
export interface StoreReader {
  readonly kind: StoreKind
  /** The number of the newest migration of the schema. */
  readonly schemaVersion: number
  /** Every append of the store up to this moment has a position in the feed up to this one. */
  readonly position: number
  /** How many entries there are, for the display of progress. Blobs, claims and expired entries are estimated. */
  count(): Promise<DumpCounts>
  /** The keys of the keyring, which are also the last entries: they tell which master key wraps them at this moment. */
  keys(): Promise<readonly KeyEntry[]>
  /** All entries, in the order of dump-entry.ts. Call it once. */
  entries(options?: ReadEntriesOptions): AsyncIterable<DumpEntry>
  /**
   * Checks what is not in the entries: checksums, indexes, counters, rows that belong to nothing. Yields the name of each check before
   * it runs, for the display of progress.
   */
  checkTables(report: ReportFinding): AsyncIterable<string>
  /** Ends the moment and releases all resources. */
  close(): Promise<void>
}

/**
 * Fills an empty store. Nothing of it is visible before `finish` resolves, and nothing stays if the process ends before: the store is
 * then as empty as it was, or refuses to open until it is loaded again.
 */
export interface StoreLoader {
  /** In the order in which a reader returns them. Rejects an entry that does not fit. */
  load(entries: readonly DumpEntry[]): Promise<void>
  /** Makes the store usable, durably. New appends get positions above `position`. */
  finish(position: number): Promise<void>
  /** Releases all resources; without `finish` before it, removes what was loaded. */
  close(): Promise<void>
}
