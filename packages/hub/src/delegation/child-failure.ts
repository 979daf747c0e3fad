/**
 * Which delegated task failed a task. Only operators read it: the error of the task has it as its cause, which the log keeps in a note;
 * a task that another agent took over names that agent's task in its status.
 */
import type { TaskStatus } from '@parley/a2a'
import { delegationExtension } from '@parley/a2a/internal'

/** The cause of the error that a failed delegation throws. */
export function childCause(agent: string, taskId: string): string {
  return `the delegated task ${taskId} of ${agent}`
}

const inNote = /\nCaused by: the delegated task (\S+) of \S+$/m

/** The id of the delegated task, and the note without it. Agents choose both texts: the caller checks whose task it is. */
export function failedChildIn(
  note: string | undefined,
  { message }: TaskStatus,
): { readonly taskId?: string; readonly note?: string } {
  const [line = '', taskId] = inNote.exec(note ?? '') ?? []
  if (note !== undefined) return taskId === undefined ? { note } : { taskId, note: note.replace(line, '') }
  const delegated = message?.metadata?.[delegationExtension] as { readonly taskId?: unknown } | undefined
  return typeof delegated?.taskId === 'string' ? { taskId: delegated.taskId } : {}
}
