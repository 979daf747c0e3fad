/**
 * What a command prints on a terminal for a person: the answer while it comes, then one line with the ids and the state, and the commands
 * that save its files and continue the task.
 */
import { isInterrupted, type Message, type StreamEvent, type Task } from '@parley/a2a'
import { hasSettled } from '@parley/a2a/internal'
import type { Output } from '../output.ts'
import { neutralize } from '@parley/a2a/command-line'
import { downloadCommand, followCommand, resumeCommand, type TaskTextOptions } from '../task-text.ts'
import { field } from '../text.ts'
import { styled } from './markdown.ts'
import { replyArguments } from './question.ts'
import { createTurnPrinter, stateInWords } from './turn-printer.ts'

export interface AnswerPrinterOptions {
  readonly output: Output
  readonly text: TaskTextOptions
  /** Whether the agent streams, so that a running task can be subscribed to. */
  readonly canStream: boolean
  /** Whether the message continues a task: what the task had before it is not printed again. */
  readonly continuesTask?: boolean
}

export interface AnswerPrinter {
  print(event: StreamEvent): Promise<void>
  /** A dim line, such as progress. */
  note(text: string): Promise<void>
  /** Ends an open line, before something else is printed. */
  pause(): Promise<void>
  end(final: { readonly task: Task } | { readonly message: Message }): Promise<void>
}

export function createAnswerPrinter({
  output,
  text,
  canStream,
  continuesTask = false,
}: AnswerPrinterOptions): AnswerPrinter {
  const { hasStyles, isVerbose } = output
  const turn = createTurnPrinter({ hasStyles, isVerbose, hasStateNotes: false, write: output.write })
  /** The task as it was when the message arrived. It is the answer if nothing follows. */
  let earlier: StreamEvent | undefined
  let isFirst = true

  async function print(event: StreamEvent): Promise<void> {
    const isEarlier = isFirst && continuesTask && canStream && 'task' in event
    isFirst = false
    if (isEarlier) {
      earlier = event
      return
    }
    if (earlier !== undefined) turn.skip(earlier)
    earlier = undefined
    await turn.print(event)
  }

  async function summarize(task: Task): Promise<void> {
    const { id, contextId = '', status } = task
    const ids = neutralize(`Task ${id}${contextId === '' ? '' : `, context ${contextId}`}: `)
    const state = stateInWords(status.state)
    const isCompleted = status.state === 'TASK_STATE_COMPLETED'
    const shown = !hasStyles ? ids + state : styled(ids, 'dim') + styled(state, isCompleted ? 'dim' : 'bold')
    await output.write(`${turn.hasPrinted ? '\n' : ''}${shown}\n${commandsFor(task)}`)
  }

  function commandsFor({ id, status: { state, message } }: Task): string {
    return [
      turn.hasFiles ? field('Download', downloadCommand(id, text)) : '',
      isInterrupted(state) ? field('Resume', resumeCommand(id, text, replyArguments(message))) : '',
      hasSettled(state) ? '' : field('Follow', followCommand(id, text)),
    ].join('')
  }

  return {
    print,
    note: turn.note,
    pause: turn.end,
    async end(final) {
      if (earlier !== undefined) await turn.print(earlier)
      // What was not in the events: a task that was polled.
      await turn.print(final)
      await turn.end()
      if ('task' in final) return summarize(final.task)
      const { contextId = '', parts } = final.message
      if (parts.some((part) => 'raw' in part)) await turn.note('-o json has the content of the files.')
      if (contextId === '') return
      await output.write('\n')
      await turn.note(`Context ${contextId}`)
    },
  }
}
