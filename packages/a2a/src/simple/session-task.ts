/**
 * One task of a session that a process manager runs. The session's events become both the flat task and the reports of the
 * task's turn in the engine. The functions of this module are synchronous and the log is not, so the flat task is kept here. It
 * ends once, by the event or by the end of the turn, whichever comes first.
 */
import type { ObservableLike, Report } from '../agents/agent.ts'
import { fail, status } from '../agents/reports.ts'
import { isTerminal, type TaskState } from '../model/state.ts'
import type { Message, Task } from '../model/task.ts'
import { flatTask, type A2ATask } from '../versions/simple-tasks.ts'

export interface SessionTask {
  /** Changed in place as the session continues. */
  readonly view: A2ATask
  /** The message for the engine, with the session as its context. */
  readonly message: Message
  readonly isEnded: boolean
  /** The session exists: the task is working. */
  begin(sessionId: string): void
  /** Handles an event of the process manager. */
  handleEvent(event: unknown): void
  /** The turn ended before the session. */
  fail(text: string): void
  /** The output of the session, from its first event on. */
  readonly reports: ObservableLike<Report>
}

interface SessionTaskDeps {
  readonly id: string
  readonly message: Message
  readonly now: () => number
  onEnd(): void
}

type Observer = Parameters<ObservableLike<Report>['subscribe']>[0]

export function createSessionTask({ id, message: sent, now, onEnd }: SessionTaskDeps): SessionTask {
  let message = sent
  // From the same clock as `updatedAt`: the time in an id never goes back.
  const createdAt = time()
  let task: Task = { id, status: { state: 'TASK_STATE_SUBMITTED', timestamp: createdAt }, history: [message] }
  let observer: Observer | undefined
  const emitted: Report[] = []
  const view = { ...flatTask(task), createdAt }

  return {
    view,
    get message() {
      return message
    },
    get isEnded() {
      return isTerminal(task.status.state)
    },
    begin(contextId) {
      message = { ...message, contextId }
      move('TASK_STATE_WORKING', { contextId })
    },
    handleEvent(event) {
      const { type, text } = readEvent(event)
      if (isTerminal(task.status.state)) return
      if (type === 'assistant' && text !== '') addMessage(text)
      if (type === 'session_exited' || type === 'session_stopped') end('TASK_STATE_COMPLETED')
      if (type === 'error') failWith(text)
    },
    fail(text) {
      if (!isTerminal(task.status.state)) failWith(text)
    },
    reports: {
      subscribe(reader) {
        for (const report of emitted) reader.next(report)
        if (isTerminal(task.status.state)) reader.complete()
        observer = reader
        return () => (observer = undefined)
      },
    },
  }

  function addMessage(text: string): void {
    move(task.status.state, { history: [...(task.history ?? []), messageOf(text)] })
    emit(status(text))
  }

  function failWith(text: string): void {
    emit(fail(text === '' ? 'Task failed' : text))
    end('TASK_STATE_FAILED', text === '' ? {} : { history: [...(task.history ?? []), messageOf(text)] })
  }

  function end(state: TaskState, more: Partial<Task> = {}): void {
    move(state, more)
    onEnd()
    observer?.complete()
  }

  function emit(report: Report): void {
    emitted.push(report)
    observer?.next(report)
  }

  function move(state: TaskState, more: Partial<Task>): void {
    task = { ...task, ...more, status: { state, timestamp: time() } }
    Object.assign(view, flatTask(task), { createdAt })
  }

  function time(): string {
    return new Date(now()).toISOString()
  }

  function messageOf(text: string): Message {
    return { messageId: `${id}:${task.history?.length ?? 0}`, role: 'ROLE_AGENT', parts: [{ text }] }
  }
}

/**
 * The event's type and text: `content`, `text` or `error`, on the event or on its `message`; of content blocks, those with
 * text.
 */
function readEvent(event: unknown): { readonly type: unknown; readonly text: string } {
  const { type, message, content, text, error } = Object(event) as Readonly<Record<string, unknown>>
  return { type, text: [content, text, message, error].map(textIn).find((each) => each !== '') ?? '' }
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textIn).join('')
  const { content, text, message } = Object(value) as Readonly<Record<string, unknown>>
  return (
    [content, text, message].map((each) => (each === undefined ? '' : textIn(each))).find((each) => each !== '') ?? ''
  )
}
