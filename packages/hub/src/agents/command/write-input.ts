/** What a program gets of a turn: its arguments, its environment, and the message on stdin. */
import { omitUndefined } from '@parley/a2a/internal'
import type { Json, Turn, Struct } from '@parley/a2a'
import type { CommandEntry } from './entry.ts'
import type { ProgramFile } from './turn-folder.ts'

/** What is known of a turn before the program starts. */
export interface ProgramInput {
  readonly turn: Turn
  readonly session: string
  readonly files: readonly ProgramFile[]
  readonly dir: string | undefined
  /** The state that the program stored with its question. */
  readonly state: Json | undefined
}

/** A NUL byte would end a string in arguments and environment. */
const withoutNul = (text: string): string => text.replaceAll('\0', '')

export function commandLine(entry: CommandEntry, { turn, dir = '' }: ProgramInput): CommandEntry['command'] {
  const [program, ...args] = entry.command
  const values: Readonly<Record<string, string>> = {
    text: turn.text,
    taskId: turn.task.id,
    contextId: turn.task.contextId,
    dir,
  }
  // One pass: inserted values are not expanded again.
  const substitute = (arg: string): string =>
    arg.replaceAll(/\{(text|taskId|contextId|dir)\}/g, (_, name: string) => withoutNul(values[name] ?? ''))
  return [program, ...args.map(substitute)]
}

export const hasTextArgument = ({ command: [, ...args] }: CommandEntry): boolean =>
  args.some((arg) => arg.includes('{text}'))
export const hasFolderArgument = ({ command: [, ...args] }: CommandEntry): boolean =>
  args.some((arg) => arg.includes('{dir}'))

/** Environment of a conversation; a kept process sees nothing else. */
export function sessionEnv({ turn, session }: ProgramInput): Record<string, string> {
  return {
    A2A_SESSION: session,
    A2A_CONTEXT_ID: withoutNul(turn.task.contextId),
    A2A_CALLER: withoutNul(turn.caller.id),
    A2A_TENANT: withoutNul(turn.tenant),
  }
}

export function turnEnv(input: ProgramInput): Record<string, string> {
  const { turn, files, dir } = input
  return {
    ...sessionEnv(input),
    A2A_TASK_ID: withoutNul(turn.task.id),
    A2A_MESSAGE_ID: withoutNul(turn.message.messageId),
    ...traceEnv(turn),
    ...(dir !== undefined ? { A2A_DIR: dir, A2A_FILES: files.map(({ path }) => path).join('\n') } : {}),
  }
}

/** Trace of one turn, as OpenTelemetry passes it to processes. Only for a process that is started per turn. */
function traceEnv({ traceparent, tracestate }: Turn): Record<string, string> {
  return { TRACEPARENT: traceparent, ...omitUndefined({ TRACESTATE: tracestate }) }
}

/** The message as one line of JSON. */
export function messageLine({ turn, session, files, dir, state }: ProgramInput): string {
  const { text, message, task, caller, tenant, resumed, traceparent } = turn
  const data = message.parts.flatMap((part): Json[] => ('data' in part ? [part.data] : []))
  const line: Struct = {
    type: 'message',
    text,
    ...(data.length > 0 ? { data } : {}),
    ...(files.length > 0 ? { files: files.map((file) => ({ ...file })) } : {}),
    taskId: task.id,
    contextId: task.contextId,
    messageId: message.messageId,
    session,
    caller: caller.id,
    traceparent,
    ...(tenant !== '' ? { tenant } : {}),
    ...omitUndefined({ metadata: message.metadata, dir, state }),
    ...(resumed !== undefined ? { attempt: resumed.attempt } : {}),
  }
  return `${JSON.stringify(line)}\n`
}

/** The message as lines of text followed by the end line; a message line that equals the end line is indented. */
export function messageText(text: string, end: string): string {
  const lines = text.split(/\r?\n/).map((line) => (line === end ? ` ${line}` : line))
  return `${lines.join('\n')}\n${end}\n`
}
