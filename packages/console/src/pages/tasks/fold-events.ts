/**
 * A task as it was after any of its events: what the log adds up to, as the hub itself reckons it. Each event costs as much as
 * it is large, so that a replay of thousands does not stop for breath.
 */
import type { Artifact, Message, Part, RecordBody, Struct, Task, TaskStatus } from '@parley/a2a'
import type { LogRecord } from '../../api/admin.ts'

export interface Folding {
  take(record: LogRecord): void
  task(): Task
  /** Of the last event that was taken. */
  readonly seq: number
}

export interface Beginning {
  readonly id: string
  readonly contextId: string
  readonly metadata?: Struct | undefined
}

export function bodyOf(record: LogRecord): RecordBody {
  return record.body as unknown as RecordBody
}

export function createFolding({ id, contextId, metadata }: Beginning): Folding {
  let status: TaskStatus = { state: 'TASK_STATE_SUBMITTED' }
  let isSaid = true
  let seq = 0
  const history: Message[] = []
  const artifacts = new Map<string, Artifact & { parts: Part[] }>()

  /** What the agent said goes to the history once it says something else. */
  function archive(): void {
    if (!isSaid && status.message !== undefined) history.push(status.message)
    isSaid = true
  }

  function take(record: LogRecord): void {
    seq = record.seq
    const body = bodyOf(record)
    if (body.type === 'status') {
      archive()
      status = body.status
      isSaid = body.status.message === undefined
    } else if (body.type === 'message') {
      // The question comes before its answer, as people read it.
      if (isWaiting(status.state)) archive()
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
    take,
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

/** Text that came in chunks is one text again. */
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

function isWaiting(state: string): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** Remembers where it was: going forward costs only what is new, going back begins again. */
export function createFoldTo(beginning: Beginning): (events: readonly LogRecord[], seq: number) => Task {
  let folding = createFolding(beginning)
  let at = 0
  return (events, seq) => {
    if (folding.seq > seq) {
      folding = createFolding(beginning)
      at = 0
    }
    for (let record = events[at]; record !== undefined && record.seq <= seq; record = events[at]) {
      folding.take(record)
      at += 1
    }
    return folding.task()
  }
}
