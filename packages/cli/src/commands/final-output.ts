/** Prints the final object of a command: the document of `-o json`, or its text, and on stderr what its exit code does not show. */
import { isInterrupted, isTerminal, type Task, type TaskState } from '@parley/a2a'
import { toProtoJson } from '@parley/a2a/internal'
import type { AgentConnection } from '../agent/connection.ts'
import type { FinalObject } from '../agent/event-printer.ts'
import type { CommandContext } from '../command.ts'
import { directMessageText, resumeCommand, taskText, warnOfState, type TaskTextOptions } from '../output/task-text.ts'
import { field } from '../output/text.ts'

export function textOptions(
  { terminal, output }: Pick<CommandContext, 'terminal' | 'output'>,
  { resumeArgs }: Pick<AgentConnection, 'resumeArgs'>,
): TaskTextOptions {
  return { program: terminal.program, resumeArgs, isVerbose: output.isVerbose }
}

/** The result of `send`: `{"task": …}` or `{"message": …}`. */
export async function printResult(final: FinalObject, context: CommandContext, text: TaskTextOptions): Promise<void> {
  const { output } = context
  if (output.format === 'json') await output.document(toProtoJson('SendMessageResponse', final))
  else await output.text('task' in final ? taskText(final.task, text) : directMessageText(final.message, text))
  if ('task' in final) warnOfState(final.task, output, text)
}

/** A bare task, as the commands of `task` print it. The state that the user asked for is no reason for a warning. */
export async function printTask(
  task: Task,
  context: CommandContext,
  text: TaskTextOptions,
  intendedState?: TaskState,
): Promise<void> {
  const { output } = context
  if (output.format === 'json') await output.document(toProtoJson('Task', task))
  else await output.text(taskText(task, text))
  if (task.status.state !== intendedState) warnOfState(task, output, text)
}

/** On a terminal: the answer, as if its events had just come. */
export async function printAnswer(
  final: FinalObject,
  { output }: CommandContext,
  text: TaskTextOptions,
  { canStream }: AgentConnection,
): Promise<void> {
  const { createAnswerPrinter } = await import('../output/turn/answer-printer.ts')
  await createAnswerPrinter({ output, text, canStream }).end(final)
}

/** After a stream, whose events are printed already. On a terminal its end is printed too. */
export async function endStream(final: FinalObject, context: CommandContext, text: TaskTextOptions): Promise<void> {
  const { output } = context
  if (!('task' in final) || output.isInteractive) return
  const { id, status } = final.task
  if (output.format === 'text' && isInterrupted(status.state))
    await output.text(field('Resume', resumeCommand(id, text)))
  warnOfState(final.task, output, text)
}

/** With `--exit-status` the exit code tells how the task ended: 1 without success, 6 if it waits for the caller. Otherwise it is 0. */
export function exitStatus(final: FinalObject, { settings }: Pick<CommandContext, 'settings'>): number {
  if (!settings.has('exit-status') || !('task' in final)) return 0
  const { state } = final.task.status
  if (isInterrupted(state)) return 6
  return isTerminal(state) && state !== 'TASK_STATE_COMPLETED' ? 1 : 0
}
