/** What a program is told of a message: on its command line, in its environment, on its input. */
import type { Json, Struct, Turn } from '@parley/a2a'
import type { CommandEntry } from './entry.ts'
import type { GivenFile } from './folder.ts'

/** What is known of a turn before the program starts. */
export interface Telling {
  readonly turn: Turn
  readonly session: string
  readonly files: readonly GivenFile[]
  readonly dir: string | undefined
  /** What the program asked to be given back. */
  readonly state: Json | undefined
}

/** A NUL ends a text where the system is told one. */
const bare = (text: string): string => text.replaceAll('\0', '')

export function commandFor(entry: CommandEntry, { turn, dir = '' }: Telling): CommandEntry['command'] {
  const [program, ...args] = entry.command
  const words: Readonly<Record<string, string>> = {
    text: turn.text,
    taskId: turn.task.id,
    contextId: turn.task.contextId,
    dir,
  }
  // One pass: what is put in is not looked at again, whatever it says.
  const put = (arg: string): string =>
    arg.replaceAll(/\{(text|taskId|contextId|dir)\}/g, (_, name: string) => bare(words[name] ?? ''))
  return [program, ...args.map(put)]
}

export const saysTextInArguments = ({ command: [, ...args] }: CommandEntry): boolean =>
  args.some((arg) => arg.includes('{text}'))
export const usesFolder = ({ command: [, ...args] }: CommandEntry): boolean => args.some((arg) => arg.includes('{dir}'))

/** Of a conversation, which is all that a program sees that is kept for it. */
export function sessionEnv({ turn, session }: Telling): Record<string, string> {
  return {
    A2A_SESSION: session,
    A2A_CONTEXT_ID: bare(turn.task.contextId),
    A2A_CALLER: bare(turn.caller.id),
    A2A_TENANT: bare(turn.tenant),
  }
}

export function turnEnv(telling: Telling): Record<string, string> {
  const { turn, files, dir } = telling
  return {
    ...sessionEnv(telling),
    A2A_TASK_ID: bare(turn.task.id),
    A2A_MESSAGE_ID: bare(turn.message.messageId),
    ...traceEnv(turn),
    ...(dir !== undefined ? { A2A_DIR: dir, A2A_FILES: files.map(({ path }) => path).join('\n') } : {}),
  }
}

/** Of one turn, so only for a program that is run for it: as OpenTelemetry hands a trace to a program. */
function traceEnv({ traceparent, tracestate }: Turn): Record<string, string> {
  return { TRACEPARENT: traceparent, ...(tracestate !== undefined ? { TRACESTATE: tracestate } : {}) }
}

/** The message as one line of JSON. */
export function messageLine({ turn, session, files, dir, state }: Telling): string {
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
    ...(message.metadata !== undefined ? { metadata: message.metadata } : {}),
    ...(dir !== undefined ? { dir } : {}),
    ...(state !== undefined ? { state } : {}),
    ...(resumed !== undefined ? { attempt: resumed.attempt } : {}),
  }
  return `${JSON.stringify(line)}\n`
}

/** The message as lines of text, and the line that ends it; a line of the message that looks like that is moved aside. */
export function messageText(text: string, end: string): string {
  const lines = text.split(/\r?\n/).map((line) => (line === end ? ` ${line}` : line))
  return `${lines.join('\n')}\n${end}\n`
}
