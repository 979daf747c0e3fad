/**
 * Checks the entries of a whole store, one after the other: those that a reader returns, and those of a backup. The engine checks the
 * fold of each task.
 */
import { hash } from 'node:crypto'
import type { Struct, Task, TaskStatus } from '@parley/a2a'
import {
  type BlobEntry,
  type DumpEntry,
  type LogEntry,
  type PushEntry,
  type SnapshotEntry,
  type TaskEntry,
  checkKey,
  createTaskCheck,
  type CheckedBatch,
  type TaskCheck,
} from '@parley/a2a/internal'
import { findReferences } from '@parley/a2a/stores/dump'
import type { FindingCollector } from './finding-report.ts'

export interface EntryCheck {
  /** In their order. `snapshotSeq`: of the snapshot that follows a task; if it is not known, the snapshot is not compared to the log. */
  add(entry: DumpEntry, snapshotSeq?: number): void | Promise<void>
  /** After the last entry. */
  finish(): void
  readonly read: { readonly tasks: number; readonly records: number; readonly blobs: number }
  /** The last position of an append. */
  readonly lastPosition: number
}

/** `masterKeys`: one of them unwraps each key of the keyring. Without any, the keys are not checked. */
export function createEntryCheck(findings: FindingCollector, masterKeys: readonly Uint8Array[]): EntryCheck {
  const read = { tasks: 0, records: 0, blobs: 0 }
  let current: CurrentTask | undefined
  let lastPosition = 0

  async function checkUnwraps(key: Extract<DumpEntry, { type: 'key' }>): Promise<void> {
    const damages = await Promise.all(masterKeys.map((masterKey) => checkKey(key, masterKey)))
    const [message] = damages
    if (message !== undefined && !damages.includes(undefined)) findings.add({ kind: 'key', table: 'keys', message })
  }

  return {
    read,
    get lastPosition() {
      return lastPosition
    },
    finish() {
      current?.finish()
      current = undefined
    },
    add(entry, snapshotSeq) {
      switch (entry.type) {
        case 'task':
          current?.finish()
          current = checkTask(entry, snapshotSeq, findings)
          read.tasks += 1
          return
        case 'log':
          lastPosition = Math.max(lastPosition, entry.position)
          read.records += current?.log(entry) ?? 0
          return
        case 'snapshot':
          return current?.snapshot(entry)
        case 'push':
          return current?.push(entry)
        case 'attempt':
          return current?.inLog('push_attempts', entry.seq, 'A delivery attempt')
        case 'blob':
          read.blobs += 1
          return
        case 'kv':
          if (parsed(entry.value) === undefined)
            findings.add({
              kind: 'key-value',
              table: 'notes',
              message: `The value of ${JSON.stringify(entry.kind)} ${JSON.stringify(entry.key)} is not valid JSON`,
            })
          return
        case 'key':
          return checkUnwraps(entry)
        case 'claim':
      }
    },
  }
}

/** Checks that the blobs of each task are there, and are what their digests say. A reader of a store does that itself. */
export function createBlobCheck(findings: FindingCollector): { add(entry: DumpEntry): void; finish(): void } {
  let taskId = ''
  let referenced = new Set<string>()
  let present = new Set<string>()
  const wrong = (message: string): void => findings.add({ kind: 'blob', table: 'blobs', taskId, message })

  function refer(what: Parameters<typeof findReferences>[0], text: string): void {
    try {
      for (const digest of findReferences(what, text)) referenced.add(digest)
    } catch {
      // A text that cannot be read is a finding of the other check.
    }
  }

  function finish(): void {
    for (const digest of referenced) if (!present.has(digest)) wrong(`The blob ${digest} is missing`)
    referenced = new Set()
    present = new Set()
  }

  return {
    finish,
    add(entry) {
      if (entry.type === 'task') {
        finish()
        taskId = entry.id
        refer('status', entry.status)
      } else if (entry.type === 'log') refer('records', entry.records)
      else if (entry.type === 'snapshot') refer('task', entry.task)
      else if (entry.type === 'blob') {
        present.add(entry.digest)
        if (digestOf(entry) !== entry.digest) wrong(`The content of the blob ${entry.digest} was changed`)
      }
    },
  }
}

function digestOf({ content }: BlobEntry): string {
  return typeof content === 'string' ? `${hash('sha256', JSON.stringify(content))}t` : hash('sha256', content)
}

interface CurrentTask {
  /** Returns the number of records. */
  log(entry: LogEntry): number
  snapshot(entry: SnapshotEntry): void
  push(entry: PushEntry): void
  inLog(table: string, seq: number, what: string): void
  finish(): void
}

/** A text that is not JSON is a finding, and the rest of the task is checked without it. */
function checkTask(task: TaskEntry, snapshotSeq: number | undefined, findings: FindingCollector): CurrentTask {
  const { id: taskId } = task
  const status = parsed<TaskStatus>(task.status)
  const metadata = task.metadata === undefined ? undefined : parsed<Struct>(task.metadata)
  let isReadable = true
  const unreadable = (table: string, message: string, seq?: number): void => {
    isReadable = false
    findings.add({
      kind: table === 'log' ? 'log' : 'row',
      table,
      taskId,
      message,
      ...(seq === undefined ? {} : { seq }),
    })
  }
  if (status === undefined) unreadable('tasks', 'The stored status is not valid JSON')
  if (task.metadata !== undefined && metadata === undefined)
    unreadable('tasks', 'The stored metadata is not valid JSON')
  const { metadata: _, ...row } = task
  const check: TaskCheck = createTaskCheck(
    {
      ...row,
      status: status ?? { state: 'TASK_STATE_UNSPECIFIED' },
      ...(metadata === undefined ? {} : { metadata }),
    },
    snapshotSeq,
    (problem) => findings.add({ ...problem, taskId }),
  )

  function inLog(table: string, seq: number, what: string): void {
    if (seq >= 0 && seq <= task.head) return
    const message = `${what} points to ${seq}, outside of the log, which ends at ${task.head}`
    findings.add({ kind: 'push', table, taskId, seq, message })
  }

  return {
    log({ position, firstSeq, lastSeq, records: text }) {
      const records = parsed<CheckedBatch['records']>(text)
      if (!Array.isArray(records)) {
        unreadable('log', 'The stored records are not valid JSON', firstSeq)
        return 0
      }
      check.batch({ position, firstSeq, lastSeq, records })
      return records.length
    },
    snapshot({ seq, task: folded, internal }) {
      const [view, internals] = [parsed<Task>(folded), parsed<Struct>(internal)]
      if (view !== undefined && internals !== undefined) check.snapshot({ seq, task: view, internal: internals })
      else
        findings.add({ kind: 'snapshot', table: 'snapshots', taskId, seq, message: 'The snapshot is not valid JSON' })
    },
    push({ id, deliveredSeq, dueAt, state, config }) {
      inLog('pushes', deliveredSeq, `The push notification config ${id}`)
      const wrong = (message: string): void =>
        findings.add({ kind: 'push', table: 'pushes', taskId, seq: deliveredSeq, message })
      if (parsed(config) === undefined) wrong(`The push notification config ${id} is not valid JSON`)
      if (!['active', 'dead', 'done'].includes(state))
        wrong(`The push notification config ${id} has the unknown state ${state}`)
      if (state === 'active' && dueAt === undefined && task.visibleSeq > deliveredSeq)
        wrong(`The push notification config ${id} waits for an event, and the log has ${task.visibleSeq}`)
    },
    inLog,
    finish() {
      // A row or a record that cannot be read is reported already; without it the fold differs.
      if (isReadable) check.finish()
    },
  }
}

/** `undefined` if the text is not JSON. */
function parsed<Value = unknown>(text: string): Value | undefined {
  try {
    return JSON.parse(text) as Value
  } catch {
    return undefined
  }
}
