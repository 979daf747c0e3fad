/**
 * Checks a whole store at one moment, while hubs may use it: every log folds to its snapshot and its row, what belongs together is
 * there, and what the database counts and indexes is right. The store checks its tables, the engine the fold; this file reads the
 * entries and passes them on. Memory is bounded by the fold of one task.
 */
import type { Struct, Task, TaskStatus } from '@parley/a2a'
import type {
  LogEntry,
  PushEntry,
  SnapshotEntry,
  StoreDamage,
  StoreFinding,
  StoreReader,
  TaskEntry,
} from '@parley/a2a/stores/dump'
import { checkKey, createTaskCheck, type CheckedBatch, type TaskCheck } from '@parley/a2a/server'
import { createFindingCollector, type FindingCollector, type VerifyReport } from './finding-report.ts'

export interface VerifyOptions {
  /** Unwraps the keys of the keyring. Without it they are not checked. */
  readonly masterKey?: Uint8Array | undefined
  /** Called before each check of the tables. */
  onTable?(name: string): void
  /** Called with the number of tasks that were checked so far. */
  onTasks?(done: number): void
  readonly monotonicNow?: () => number
}

/** Tasks between two calls of `onTasks`. */
const progressEvery = 500

export async function verifyStore(reader: StoreReader, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { masterKey, onTable, onTasks, monotonicNow = () => performance.now() } = options
  const startedAt = monotonicNow()
  const findings = createFindingCollector()
  let uncheckedRows = 0
  for await (const { name, unchecked } of reader.checkTables(findings.add)) {
    if (unchecked === undefined) onTable?.(name)
    else uncheckedRows += unchecked
  }

  const read = { tasks: 0, records: 0, blobs: 0 }
  let snapshotSeq: number | undefined
  let current: CurrentTask | undefined
  const entries = reader.entries({
    onDamage: (damage) => findings.add(findingOf(damage)),
    onSnapshot: (seq) => void (snapshotSeq = seq),
  })
  for await (const entry of entries) {
    switch (entry.type) {
      case 'task':
        current?.finish()
        current = checkTask(entry, snapshotSeq, findings)
        snapshotSeq = undefined
        read.tasks += 1
        if (read.tasks % progressEvery === 0) onTasks?.(read.tasks)
        break
      case 'log':
        read.records += current?.log(entry) ?? 0
        break
      case 'snapshot':
        current?.snapshot(entry)
        break
      case 'push':
        current?.push(entry)
        break
      case 'attempt':
        current?.inLog('push_attempts', entry.seq, 'A delivery attempt')
        break
      case 'blob':
        read.blobs += 1
        break
      case 'kv':
        if (parsed(entry.value) === undefined)
          findings.add({
            kind: 'key-value',
            table: 'notes',
            message: `The value of ${JSON.stringify(entry.kind)} ${JSON.stringify(entry.key)} is not valid JSON`,
          })
        break
      case 'key': {
        const damage = masterKey && (await checkKey(entry, masterKey))
        if (damage !== undefined) findings.add({ kind: 'key', table: 'keys', message: damage })
        break
      }
      case 'claim':
    }
  }
  current?.finish()
  return {
    isHealthy: findings.findings.length === 0,
    store: reader.kind,
    schema: reader.schemaVersion,
    ...read,
    uncheckedRows,
    hasCheckedKeys: masterKey !== undefined,
    counts: findings.counts,
    findings: findings.findings,
    durationMs: Math.round(monotonicNow() - startedAt),
  }
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

function findingOf({ taskId, table, message }: StoreDamage): StoreFinding {
  if (table === undefined) return { kind: 'index', table: 'database', message, ...(taskId && { taskId }) }
  if (taskId === undefined) return { kind: 'orphan', table, message }
  return { kind: table === 'blobs' ? 'blob' : 'log', table, taskId, message }
}

/** `undefined` if the text is not JSON. */
function parsed<Value = unknown>(text: string): Value | undefined {
  try {
    return JSON.parse(text) as Value
  } catch {
    return undefined
  }
}
