/** How the events of a stream are printed: as lines of JSON or labels with `--stream`, or as an answer for a person on a terminal. */
import { hasSettled, toProtoJson } from '@parley/a2a/internal'
import type { Message, StreamEvent, Task } from '@parley/a2a'
import type { Output } from '../output/output.ts'
import { eventText, idsText, type TaskTextOptions } from '../output/task-text.ts'
import { field } from '../output/text.ts'

export type FinalObject = { readonly task: Task } | { readonly message: Message }

export interface EventPrinter {
  print(event: StreamEvent): Promise<void>
  /** Progress, where it does not damage what is printed. */
  note(text: string): void
  end(final: FinalObject, wasPolled: boolean): Promise<void>
  /** The wait ended without a final object. */
  abandon(): Promise<void>
}

export interface EventPrinterOptions {
  readonly output: Output
  readonly text: TaskTextOptions
  readonly canStream: boolean
  readonly continuesTask: boolean
}

/** `undefined` if only the final object is printed. */
export async function createEventPrinter(options: EventPrinterOptions): Promise<EventPrinter | undefined> {
  const { output } = options
  if (!output.isInteractive) return output.isStream ? createLinePrinter(options) : undefined
  const { createAnswerPrinter } = await import('../output/turn/answer-printer.ts')
  const { print, note, pause, end } = createAnswerPrinter(options)
  // A terminal that has gone is reported by the next event.
  return { print, note: (text) => void note(text).catch(() => {}), end, abandon: pause }
}

/** Prints each event as it comes, and at the end the task, if the last event does not name it with its state. */
function createLinePrinter({ output, text }: EventPrinterOptions): EventPrinter {
  let isFirst = true
  let restated = false
  return {
    note: output.note,
    async abandon() {},
    async print(event) {
      if (output.format === 'json') {
        await output.line(toProtoJson('StreamResponse', event))
        const { taskId, state } = factsOf(event)
        restated = 'message' in event || (taskId !== undefined && state !== undefined && hasSettled(state))
        return
      }
      const hasSettledState = hasSettled(factsOf(event).state ?? 'TASK_STATE_UNSPECIFIED')
      await output.text(eventText(event, text, isFirst || hasSettledState))
      isFirst = false
      restated = 'message' in event || hasSettledState
    },
    async end(final, wasPolled) {
      if (!('task' in final)) return
      const { task } = final
      if (output.format === 'json') {
        if (!restated || wasPolled) await output.line(toProtoJson('StreamResponse', { task }))
      } else if (!restated)
        // What came while the stream was broken is only in the task that was polled.
        await output.text(
          wasPolled
            ? eventText({ task }, text, true)
            : idsText(task.id, task.contextId) + field('State', task.status.state),
        )
    },
  }
}

/** What an event says of its task. */
export function factsOf(event: StreamEvent) {
  if ('task' in event) {
    const { id, contextId, status } = event.task
    return { taskId: id, contextId, status, state: status.state }
  }
  if ('message' in event) return { taskId: event.message.taskId, contextId: event.message.contextId }
  if ('artifactUpdate' in event) {
    const { taskId, contextId } = event.artifactUpdate
    return { taskId, contextId }
  }
  const { taskId, contextId, status } = event.statusUpdate
  return { taskId, contextId, status, state: status.state }
}
