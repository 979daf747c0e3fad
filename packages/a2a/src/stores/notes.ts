/**
 * Small named values beside the tasks: what whoever runs the server has to remember (keys of callers, counters, which
 * session belongs to which conversation). Kept by the same store, so that there is one thing to back up and replicas agree.
 */
import type { Json } from '../model/task.ts'

export interface Note {
  readonly key: string
  readonly value: Json
  /** 1 when made, one more at each write. */
  readonly version: number
  readonly updatedAt: number
}

export interface NoteWrite {
  readonly key: string
  readonly value: Json
  /** Milliseconds since the epoch; from then on it is as if it were not there. Left out: it stays. */
  readonly expiresAt?: number
}

export interface NoteQuery {
  readonly prefix?: string
  /** Keys after this one in the order of the list. */
  readonly after?: string
  readonly descending?: boolean
  readonly limit: number
}

/**
 * `kind` keeps the notes of one purpose apart from those of another; keys are ordered by their bytes. Either may be any
 * string of up to 1,024 bytes in UTF-8; a longer one is refused. What rejects for another reason may have been done all the same.
 */
export interface Notes {
  read(kind: string, key: string): Promise<Note | undefined>
  /**
   * Makes or replaces. With `version`, only if the note is still at it (0: only if there is none). Answers the new version,
   * or nothing if it was at another. Durable when it resolves.
   */
  write(kind: string, note: NoteWrite, version?: number): Promise<number | undefined>
  /** All or none, whatever was there before. Of several under one key the last one counts. */
  writeAll(kind: string, notes: readonly NoteWrite[]): Promise<void>
  /** Answers whether there was one. */
  remove(kind: string, key: string): Promise<boolean>
  list(kind: string, query: NoteQuery): Promise<readonly Note[]>
  /** Adds to a number, in one step, and answers the sum. What is not there, or is no number, counts as 0. */
  add(kind: string, key: string, by: number, expiresAt: number): Promise<number>
}
