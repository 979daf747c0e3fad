/** The `push` facet of a store: push notification configs, how far each has been delivered, and the attempts. */
import type { Struct } from '../model/task.ts'

/** A push notification config of a task, and how far it has been delivered. */
export interface PushRow {
  readonly taskId: string
  readonly id: string
  /** What the server needs to deliver: url, token, credentials, dialect. Opaque to the store. */
  readonly config: Struct
  /** All visible records up to here are delivered. */
  readonly deliveredSeq: number
  /** When to try next, in milliseconds since the epoch; absent: nothing to deliver. */
  readonly dueAt?: number
  /** How many times delivery of the next record was tried. */
  readonly attempt: number
  /** `dead`: its retries are exhausted. `done`: the last event of the task is delivered. */
  readonly state: 'active' | 'dead' | 'done'
  readonly createdAt: number
}
/** The part of a push row that a delivery sets. Omitted fields stay; `dueAt: null` clears. */
export interface PushChange {
  readonly deliveredSeq?: number
  readonly dueAt?: number | null
  readonly attempt?: number
  readonly state?: PushRow['state']
}
/** A push row that this process may deliver, with the fence of its claim. */
export interface ClaimedPush {
  readonly push: PushRow
  readonly fence: number
}
/** A query for push notification configs of all tasks, newest first. */
export interface PushQuery {
  readonly state?: PushRow['state']
  /** From the page before. */
  readonly before?: number
  readonly limit: number
}
/** One page of push notification configs. */
export interface PushPage {
  readonly pushes: readonly PushRow[]
  /** The `before` of the next page; absent on the last. */
  readonly before?: number
}
/** One attempt to deliver an event to a webhook, for the operator. */
export interface PushAttempt {
  readonly taskId: string
  readonly pushId: string
  readonly seq: number
  readonly at: number
  readonly attempt: number
  readonly outcome: string
  readonly durationMs: number
  /** The start of the response of a receiver that did not accept the event. */
  readonly answer?: string
}

/** How many attempts a store keeps for each config: a task that lives for weeks must not fill it. */
export const keptAttempts = 1_000
/** Older attempts are removed with an attempt for each so many records: not with every attempt, which would cost as much as the write. */
export const trimEverySeqs = 64

/** How long a cursor without failures waits at most, and one that is tried again: above the longest delay that a receiver may request. */
export const longestPauseMs = 60_000
export const longestRetryMs = 30 * 3_600_000

/** A new or replaced cursor: due at once if visible records are ahead of it. */
export function savedPush(push: PushRow, visibleSeq: number, atOnce: number): PushRow {
  const isBehind = push.state === 'active' && push.dueAt === undefined && visibleSeq > push.deliveredSeq
  return isBehind ? { ...push, dueAt: atOnce } : push
}

/** A cursor after a delivery. It stays due if an append made it so in the meantime. */
export function movedPush({ dueAt: wasDueAt, ...push }: PushRow, change: PushChange, visibleSeq: number): PushRow {
  const deliveredSeq = change.deliveredSeq ?? push.deliveredSeq
  const state = change.state ?? push.state
  const isBehind = visibleSeq > deliveredSeq
  const dueAt = state !== 'active' ? undefined : (change.dueAt ?? (isBehind ? wasDueAt : undefined))
  const attempt = change.attempt ?? push.attempt
  return { ...push, deliveredSeq, state, attempt, ...(dueAt === undefined ? {} : { dueAt }) }
}

/** Push notification configs, the claims under which they are delivered, and delivery attempts. */
export interface PushStore {
  /**
   * Creates or replaces a config. A new config begins at `deliveredSeq`; visible records already past it make it due at once.
   * Rejects if the task does not exist.
   */
  save(push: PushRow): Promise<void>
  /** One config of a task. */
  load(taskId: string, id: string): Promise<PushRow | undefined>
  /** All configs of a task. */
  list(taskId: string): Promise<readonly PushRow[]>
  /** Configs of all tasks; for the operator. */
  search(query: PushQuery): Promise<PushPage>
  /** Returns whether the config existed. With a `fence`, deletes only under that claim: a replaced config stays. */
  delete(taskId: string, id: string, fence?: number): Promise<boolean>
  /**
   * Active configs that are due, each claimed until `until` under a fence of its own. An append with visible records makes the idle
   * configs of its task due at once.
   */
  claim(now: number, until: number, limit: number): Promise<readonly ClaimedPush[]>
  /**
   * Moves a claimed cursor and releases the claim; returns false if the fence is old or the config is gone. An append in the
   * meantime keeps it due.
   */
  move(taskId: string, id: string, fence: number, change: PushChange): Promise<boolean>
  /** Stores an attempt for `listAttempts`; ignored if the task does not exist. About the newest 1,000 of a config stay. */
  recordAttempt(attempt: PushAttempt): Promise<void>
  /** The newest `limit` attempts of a config, newest first. */
  listAttempts(taskId: string, pushId: string, limit: number): Promise<readonly PushAttempt[]>
}
