/** Tasks, direct messages and events of a stream as text, each with the ids and the state that a script needs. */
import { isInterrupted, isTerminal } from '@parley/a2a'
import type { Message, StreamEvent, Task, TaskStatus } from '@parley/a2a'
import { artifactText, hasFiles, messageText, type PartOptions } from './parts.ts'
import type { Output } from './output.ts'
import { block, field } from './text.ts'

export interface TaskTextOptions extends PartOptions {
  /** How the user starts the program: `a2a`. */
  readonly program: string
  /** The arguments that connect to the same agent again. */
  readonly resumeArgs: string
}

/** The command that continues the task is part of it, unless the caller prints that itself. */
export function taskText(task: Task, options: TaskTextOptions, hasResume = true): string {
  const { id, contextId, status, history = [], artifacts = [], metadata } = task
  return [
    idsText(id, contextId),
    statusText(status, options),
    options.isVerbose && metadata !== undefined ? block('Metadata', JSON.stringify(metadata, null, 2)) : '',
    ...history.map((message) => messageText('History', message, options)),
    status.message === undefined ? '' : messageText('Message', status.message, options),
    ...artifacts.map((artifact) => artifactText(artifact, options)),
    hasFiles(artifacts) ? field('Download', downloadCommand(id, options)) : '',
    hasResume && isInterrupted(status.state) ? field('Resume', resumeCommand(id, options)) : '',
  ].join('')
}

export function idsText(id: string, contextId: string | undefined): string {
  return field('Task ID', id) + (contextId === undefined || contextId === '' ? '' : field('Context ID', contextId))
}

function statusText({ state, timestamp }: TaskStatus, { isVerbose }: PartOptions): string {
  return field('State', state) + (isVerbose && timestamp !== undefined ? field('Updated', timestamp) : '')
}

/** A reply without a task. */
export function directMessageText(message: Message, options: PartOptions): string {
  const { contextId } = message
  return (contextId === undefined ? '' : field('Context ID', contextId)) + messageText('Message', message, options)
}

/** One event. The ids of the task are repeated where `hasIds` says so. */
export function eventText(event: StreamEvent, options: TaskTextOptions, hasIds: boolean): string {
  if ('task' in event) return taskText(event.task, options, false)
  if ('message' in event) return directMessageText(event.message, options)
  if ('statusUpdate' in event) {
    const { taskId, contextId, status, metadata } = event.statusUpdate
    return [
      hasIds ? idsText(taskId, contextId) : '',
      statusText(status, options),
      options.isVerbose && metadata !== undefined ? block('Metadata', JSON.stringify(metadata, null, 2)) : '',
      status.message === undefined ? '' : messageText('Message', status.message, options),
    ].join('')
  }
  const { taskId, contextId, artifact, append } = event.artifactUpdate
  const note = append === true ? 'continued' : ''
  return (hasIds ? idsText(taskId, contextId) : '') + artifactText(artifact, options, note)
}

/** The command that answers a task. */
export function resumeCommand(
  taskId: string,
  { program, resumeArgs }: TaskTextOptions,
  replyArguments = '"<reply>"',
): string {
  return `${program} send ${resumeArgs} --task-id ${quoted(taskId)} ${replyArguments}`
}

/** The command that waits for a task. Unlike a subscription it also works when the task has ended, and for agents without streams. */
export function followCommand(taskId: string, { program, resumeArgs }: TaskTextOptions): string {
  return `${program} task get ${resumeArgs} ${quoted(taskId)} --wait`
}

export function downloadCommand(taskId: string, { program, resumeArgs }: TaskTextOptions): string {
  return `${program} task download ${resumeArgs} ${quoted(taskId)}`
}

/** An agent chooses the id, so a shell must not read anything else in it. */
export function quoted(word: string): string {
  const isPlain = /^[\w.:@+][\w.:@+-]*$/.test(word)
  return isPlain ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Outcomes that are no success of the task: exit code 0 does not show them. */
export function warnOfState(
  { id, status }: Pick<Task, 'id' | 'status'>,
  output: Output,
  options: TaskTextOptions,
): void {
  const { state } = status
  const short = state.replace('TASK_STATE_', '')
  if (state === 'TASK_STATE_AUTH_REQUIRED')
    output.warn(`The task needs a credential (${short}). Pass it, then continue: ${resumeCommand(id, options)}`)
  else if (isInterrupted(state)) output.warn(`The task waits for input (${short}): ${resumeCommand(id, options)}`)
  else if (isTerminal(state) && state !== 'TASK_STATE_COMPLETED') output.warn(`The task ended as ${short}.`)
}
