/**
 * What lists and operators need of a task beyond its row: the first message, the beginning of the result, why it failed and how long
 * it waited for its caller. Read from the log: its first records, its last ones, and all of it only for a task with several messages.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { isInterrupted, isTerminal, type Artifact, type Message, type Part } from '@parley/a2a'
import { omitUndefined, recordsBytes } from '@parley/a2a/internal'
import type { LogRecord, Store, TaskRow } from '@parley/a2a/stores'
import { textOfParts } from '../agents/part-reader.ts'
import { failedChildIn } from '../delegation/child-failure.ts'
import { delegatedOwner } from '../delegation/delegated-owner.ts'

export interface TaskFacts {
  /** The text of the first message. */
  readonly title?: string
  /** The beginning of the first artifact. */
  readonly result?: string
  /** The error that ended the task, with its stack and causes. */
  readonly cause?: string
  /** The task that failed first, if a delegated one failed this task. */
  readonly failedChild?: FailedChild
  /** Time in INPUT_REQUIRED and AUTH_REQUIRED up to the last status. Absent if the log does not have it, or is too long. */
  readonly waitingMs?: number
  /** The name of the caller, for operators. */
  readonly callerName?: string
}

export interface FailedChild {
  readonly taskId: string
  readonly agent: string
  readonly statusText?: string
  readonly cause?: string
}

export interface TaskFactsReader {
  /** `isExact` reads a log of any length. */
  read(row: TaskRow, isExact?: boolean): Promise<TaskFacts>
}

/** The first message and the beginning of most answers. */
const firstRecords = 16
const firstBytes = 100_000
/** An agent that uses tools has spans before and in its answer. */
const nextRecords = 46
const maxResultRecords = 200
const maxResultBytes = 256_000
/** A failed task ends with its error, the messages that were dropped, and the status. */
const lastRecords = 6
const lastBytes = 1_000_000
/** For the waiting time of a task in a list. */
const listRecords = 1_000
const pageBytes = 1_000_000
/** More than is ever shown: an agent chooses the text. */
const maxCauseLength = 100_000
/** The result is cut to an excerpt. */
const maxResultLength = 400
/** Facts of ended tasks do not change; the most recently read are kept. */
const maxKept = 5_000
/** Messages and errors may have megabytes: those are read again. */
const maxKeptLength = 10_000

/** `redact` removes secrets from errors. */
export function createTaskFacts(
  store: Pick<Store, 'tasks'>,
  redact: (text: string) => string = (text) => text,
): TaskFactsReader {
  const kept = new Map<string, { readonly head: number; readonly facts: TaskFacts }>()

  async function read(row: TaskRow, isExact: boolean): Promise<TaskFacts> {
    const first = await readBeginning(row)
    if (first[0]?.seq !== 1) return factsOfSnapshot(row)
    const known = first.at(-1)?.seq ?? 0
    const isWhole = known >= row.head
    const last = isWhole ? first : await readEnd(row, known, first)
    const title = textOfFirstMessage(first)
    const result = resultIn(first) ?? resultIn(last)
    const { note: cause, taskId } = failedChildIn(causeIn(row, last), row.status)
    const failedChild = isFailure(row) && taskId !== undefined ? await readFailedChild(row, taskId) : undefined
    const waitingMs = isWhole ? waitingTime(first) : await readWaitingTime(row, first, last, isExact)
    return {
      ...(title !== undefined ? { title } : {}),
      ...(result !== undefined ? { result } : {}),
      ...(cause !== undefined ? { cause: redact(cause.slice(0, maxCauseLength)) } : {}),
      ...omitUndefined({ failedChild, waitingMs }),
    }
  }

  /** The last one in a chain of delegations. */
  async function readFailedChild(parent: TaskRow, taskId: string): Promise<FailedChild | undefined> {
    const row = await store.tasks.load(taskId)
    // Only a task that this agent created for the same caller: an id in the text of an agent proves nothing.
    if (row === undefined || !isFailure(row) || row.owner !== delegatedOwner(parent)) return undefined
    const { failedChild, cause } = await readKept(row, false)
    return (
      failedChild ?? { taskId, agent: row.agent, ...omitUndefined({ statusText: fullText(row.status.message), cause }) }
    )
  }

  /** Reads until the beginning of the first artifact is complete. */
  async function readBeginning({ id, head }: TaskRow): Promise<readonly LogRecord[]> {
    const records = [...(await store.tasks.read(id, 0, firstRecords, firstBytes))]
    while (!hasWholeResult(records)) {
      const at = records.at(-1)?.seq ?? head
      const limit = Math.min(nextRecords, maxResultRecords - records.length)
      const bytes = maxResultBytes - recordsBytes(records)
      if (at >= head || limit <= 0 || bytes <= 0) break
      const page = await store.tasks.read(id, at, limit, bytes)
      // The log was dropped meanwhile.
      if (page.length === 0) break
      records.push(...page)
    }
    return records
  }

  /** The records at the end, if they can tell anything. */
  async function readEnd(
    { id, head, status: { state } }: TaskRow,
    known: number,
    first: readonly LogRecord[],
  ): Promise<readonly LogRecord[]> {
    const isDone = state === 'TASK_STATE_COMPLETED' && resultIn(first) !== undefined
    if (isDone || !(isTerminal(state) || isInterrupted(state))) return []
    return store.tasks.read(id, Math.max(known, head - lastRecords), lastRecords, lastBytes)
  }

  async function readWaitingTime(
    row: TaskRow,
    first: readonly LogRecord[],
    last: readonly LogRecord[],
    isExact: boolean,
  ): Promise<number | undefined> {
    // A wait ends with a message, or with the task.
    const hasWaited = row.consumedSeq > 1 || last.filter(isWaitingStatus).length > 0
    if (!hasWaited) return 0
    if (!isExact && row.head > listRecords) return undefined
    const timer = createWaitingTimer()
    for (const record of first) timer.add(record)
    for (let at = first.at(-1)?.seq ?? 0; at < row.head;) {
      const page = await store.tasks.read(row.id, at, listRecords, pageBytes)
      for (const record of page) timer.add(record)
      const end = page.at(-1)?.seq
      // The log was dropped meanwhile.
      if (end === undefined) return undefined
      at = end
      await breathe()
    }
    return timer.waitedMs
  }

  /** The log was dropped; the task that it resulted in is known. */
  async function factsOfSnapshot({ id }: TaskRow): Promise<TaskFacts> {
    const { history = [], artifacts = [] } = (await store.tasks.loadSnapshot(id))?.task ?? {}
    const title = fullText(history[0])
    const result = artifacts[0] && artifactText([artifacts[0]])
    return { ...(title !== undefined ? { title } : {}), ...(result !== undefined ? { result } : {}) }
  }

  async function readKept(row: TaskRow, isExact: boolean): Promise<TaskFacts> {
    const known = kept.get(row.id)
    if (known?.head === row.head && !(isExact && known.facts.waitingMs === undefined)) return known.facts
    const facts = await read(row, isExact)
    kept.delete(row.id)
    if (isTerminal(row.status.state) && isSmall(facts)) kept.set(row.id, { head: row.head, facts })
    const [oldest] = kept.size > maxKept ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
    return facts
  }

  return { read: (row, isExact = false) => readKept(row, isExact) }
}

function isSmall({ title = '', cause = '', failedChild }: TaskFacts): boolean {
  const ofChild = (failedChild?.statusText ?? '') + (failedChild?.cause ?? '')
  return title.length + cause.length + ofChild.length <= maxKeptLength
}

function isFailure({ status: { state } }: TaskRow): boolean {
  return isTerminal(state) && state !== 'TASK_STATE_COMPLETED'
}

function textOfFirstMessage(records: readonly LogRecord[]): string | undefined {
  for (const { body } of records) if (body.type === 'message') return fullText(body.message)
  return undefined
}

export function fullText(message: Message | undefined): string | undefined {
  return message === undefined ? undefined : textOfParts(message.parts).trim()
}

/** The text of the first artifact, as far as these records have it. */
function resultIn(records: readonly LogRecord[]): string | undefined {
  const { chunks } = firstArtifact(records)
  return chunks.length === 0 ? undefined : artifactText(chunks)
}

function hasWholeResult(records: readonly LogRecord[]): boolean {
  const { chunks, hasEnded } = firstArtifact(records)
  return hasEnded || textOfParts(partsOf(chunks), '').trim().length >= maxResultLength
}

function firstArtifact(records: readonly LogRecord[]) {
  let chunks: Artifact[] = []
  let hasEnded = false
  for (const { body } of records) {
    if (body.type !== 'artifact') continue
    const { artifact, append, lastChunk } = body
    if (chunks[0] !== undefined && chunks[0].artifactId !== artifact.artifactId) continue
    chunks = append === true ? [...chunks, artifact] : [artifact]
    hasEnded = lastChunk === true
  }
  return { chunks, hasEnded }
}

function partsOf(chunks: readonly Artifact[]): readonly Part[] {
  return chunks.flatMap((chunk) => chunk.parts)
}

function artifactText(chunks: readonly Artifact[]): string | undefined {
  const parts = partsOf(chunks)
  const text = textOfParts(parts, '').trim().slice(0, maxResultLength)
  if (text !== '') return text
  const [part] = parts
  return chunks[0]?.name ?? (part && describePart(part))
}

function describePart(part: Part): string | undefined {
  if ('data' in part) return JSON.stringify(part.data)?.slice(0, maxResultLength)
  return part.filename ?? part.mediaType
}

const droppedMessages = 'queued messages were dropped'

/** The note that was written with the end of the task. */
export function causeIn(row: TaskRow, records: readonly LogRecord[]): string | undefined {
  if (!isFailure(row)) return undefined
  for (const { body } of records.slice(-lastRecords)) {
    if (body.type === 'note' && !body.text.startsWith(droppedMessages)) return body.text
  }
  return undefined
}

function isWaitingStatus({ body }: LogRecord): boolean {
  return body.type === 'status' && isInterrupted(body.status.state)
}

function waitingTime(records: readonly LogRecord[]): number {
  const timer = createWaitingTimer()
  for (const record of records) timer.add(record)
  return timer.waitedMs
}

/** A wait begins with its status, and ends with a message or another status. */
function createWaitingTimer() {
  let since: number | undefined
  let waitedMs = 0
  return {
    add(record: LogRecord): void {
      const { at, body } = record
      if (body.type !== 'status' && body.type !== 'message') return
      if (since !== undefined) waitedMs += Math.max(0, at - since)
      since = isWaitingStatus(record) ? at : undefined
    },
    /** Up to the last status. */
    get waitedMs() {
      return waitedMs
    },
  }
}
