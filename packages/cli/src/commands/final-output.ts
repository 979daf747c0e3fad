/** Prints the final object of a command: the document of `-o json`, or its text, and on stderr what its exit code does not show. */
import { isInterrupted, toProtoJson } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import type { AgentConnection } from '../agent/connection.ts'
import type { FinalObject } from '../agent/follow-events.ts'
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

/** A bare task, as the commands of `task` print it. */
export async function printTask(task: Task, context: CommandContext, text: TaskTextOptions): Promise<void> {
  const { output } = context
  if (output.format === 'json') await output.document(toProtoJson('Task', task))
  else await output.text(taskText(task, text))
  warnOfState(task, output, text)
}

/** After a stream, whose events are printed already. */
export async function endStream(final: FinalObject, context: CommandContext, text: TaskTextOptions): Promise<void> {
  if (!('task' in final)) return
  const { output } = context
  const { id, status } = final.task
  if (output.format === 'text' && isInterrupted(status.state))
    await output.text(field('Resume', resumeCommand(id, text)))
  warnOfState(final.task, output, text)
}
