/**
 * Folds the log to the task after any of its events, as the hub does. The cost of an event is proportional to its size, so that a
 * replay of thousands of events does not stall.
 */
import type { Artifact, Message, Part, Struct, Task, TaskStatus } from '@parley/a2a'
import type { RecordBody } from '@parley/a2a/stores'
import type { LogRecord } from '../../../api/admin.ts'

export interface TaskFold {
  apply(record: LogRecord): void
  task(): Task
  /** Seq of the last folded event. */
  readonly seq: number
}

export interface TaskFoldStart {
  readonly id: string
  readonly contextId: string
  readonly metadata?: Struct | undefined
}

export function recordBody(record: LogRecord): RecordBody {
  return record.body as unknown as RecordBody
}

export function createTaskFold({ id, contextId, metadata }: TaskFoldStart): TaskFold {
  let status: TaskStatus = { state: 'TASK_STATE_SUBMITTED' }
  let isArchived = true
  let seq = 0
  const history: Message[] = []
  const artifacts = new Map<string, Artifact & { parts: Part[] }>()

  /** Moves the status message to the history when the agent sends another one. */
  function archive(): void {
    if (!isArchived && status.message !== undefined) history.push(status.message)
    isArchived = true
  }

  function take(record: LogRecord): void {
    seq = record.seq
    const body = recordBody(record)
    if (body.type === 'status') {
      archive()
      status = body.status
      isArchived = body.status.message === undefined
    } else if (body.type === 'message') {
      // The question comes before its answer.
      if (isWaitingForClient(status.state)) archive()
      history.push(body.message)
    } else if (body.type === 'artifact') {
      takeArtifact(body.artifact, body.append === true)
    }
  }

  function takeArtifact(chunk: Artifact, append: boolean): void {
    const known = append ? artifacts.get(chunk.artifactId) : undefined
    const { parts, ...about } = chunk
    if (known === undefined) {
      artifacts.set(chunk.artifactId, { ...about, parts: [...parts] })
      return
    }
    for (const part of parts) addPart(known.parts, part)
    artifacts.set(chunk.artifactId, {
      ...known,
      ...about,
      parts: known.parts,
      ...(about.metadata !== undefined ? { metadata: { ...known.metadata, ...about.metadata } } : {}),
      ...(about.extensions !== undefined
        ? { extensions: [...new Set([...(known.extensions ?? []), ...about.extensions])] }
        : {}),
    })
  }

  return {
    apply: take,
    task: () => ({
      id,
      contextId,
      status,
      ...(artifacts.size > 0
        ? { artifacts: [...artifacts.values()].map((one) => ({ ...one, parts: [...one.parts] })) }
        : {}),
      ...(history.length > 0 ? { history: [...history] } : {}),
      ...(metadata !== undefined ? { metadata } : {}),
    }),
    get seq() {
      return seq
    },
  }
}

/** Merges text that came in chunks. */
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (last !== undefined && isBareText(last) && isBareText(part)) {
    parts[parts.length - 1] = { text: last.text + part.text }
  } else {
    parts.push(part)
  }
}

function isBareText(part: Part): part is { readonly text: string } {
  return 'text' in part && Object.keys(part).length === 1
}

function isWaitingForClient(state: string): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** Caches the position: going forward folds only the new events, going back starts over. */
export function createFoldToSeq(beginning: TaskFoldStart): (events: readonly LogRecord[], seq: number) => Task {
  let taskFold = createTaskFold(beginning)
  let at = 0
  return (events, seq) => {
    if (taskFold.seq > seq) {
      taskFold = createTaskFold(beginning)
      at = 0
    }
    for (let record = events[at]; record !== undefined && record.seq <= seq; record = events[at]) {
      taskFold.apply(record)
      at += 1
    }
    return taskFold.task()
  }
}
