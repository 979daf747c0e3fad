/** Tasks in a list: state, owner, times, and excerpts of the first message, the result and the error. */
import { isTerminal, type Message } from '@parley/a2a'
import { omitUndefined, taskStates } from '@parley/a2a/internal'
import type { Store, TaskRow } from '@parley/a2a/stores'
import { z } from 'zod'
import { isoTime } from '../http/json-response.ts'
import { createRedactor } from '../telemetry/logs/redactor.ts'
import { timestamp } from './route.ts'
import { fullText, type FailedChild, type TaskFacts } from './task-facts.ts'

export const taskState = z.enum(taskStates).exclude(['TASK_STATE_UNSPECIFIED'])

export const taskSummary = z
  .strictObject({
    id: z.string(),
    contextId: z.string(),
    agent: z.string(),
    caller: z.string().describe('The owner of the task.'),
    callerName: z
      .string()
      .optional()
      .describe(
        'The name of its API key, if the owner has one; of a delegated task, with the agent that delegated it.',
      ),
    tenant: z.string(),
    state: z.string(),
    statusAt: timestamp,
    createdAt: timestamp,
    durationMs: z.number().optional().describe('From its first event to its end, once it has ended.'),
    waitingMs: z
      .number()
      .optional()
      .describe(
        'How long it waited for input or sign-in, up to its last status. Absent if unknown: the log was dropped or, in a list, is long.',
      ),
    title: z.string().optional().describe('The beginning of its first message.'),
    statusText: z.string().optional().describe('The beginning of its status message.'),
    result: z.string().optional().describe('The beginning of its first artifact.'),
    cause: z
      .string()
      .optional()
      .describe('Why it failed, for operators: the error and its causes in one line. Callers do not receive it.'),
    failedChild: z
      .strictObject({ taskId: z.string(), agent: z.string() })
      .optional()
      .describe('The delegated task that it failed with; of a chain of delegations, the last.'),
    head: z.int().describe('The seq of its last event.'),
    dueAt: timestamp.optional().describe('When its turn or its wait for input times out.'),
  })
  .meta({ id: 'TaskSummary' })

export type TaskSummary = z.output<typeof taskSummary>

/** Enough to recognize it. */
const maxExcerptLength = 200

/** Without `facts` of a task whose log was not read. */
export function taskSummaryOf(
  row: TaskRow,
  { title = '', result = '', cause, failedChild, waitingMs, callerName }: TaskFacts = {},
): TaskSummary {
  const { id, contextId, agent, owner, tenant, status, statusAt, createdAt, head, due } = row
  const statusText = messageExcerpt(status.message)
  const causes = [
    ...(cause === undefined ? [] : messagesIn(cause, fullText(status.message))),
    ...(failedChild === undefined ? [] : [childText(failedChild)]),
  ]
  const shownCause = causes.length === 0 ? undefined : toExcerpt(redactCause(causes.join(': '), 10 * maxExcerptLength))
  return {
    id,
    contextId,
    agent,
    caller: owner,
    tenant,
    state: status.state,
    statusAt: isoTime(statusAt),
    createdAt: isoTime(createdAt),
    ...(isTerminal(status.state) ? { durationMs: Math.max(0, statusAt - createdAt) } : {}),
    ...(title !== '' ? { title: toExcerpt(title) } : {}),
    ...(result !== '' ? { result: toExcerpt(withoutMarkdown(result)) } : {}),
    ...omitUndefined({ statusText, cause: shownCause }),
    ...(failedChild === undefined ? {} : { failedChild: { taskId: failedChild.taskId, agent: failedChild.agent } }),
    ...omitUndefined({ waitingMs, callerName }),
    head,
    ...(due !== undefined ? { dueAt: isoTime(due.at) } : {}),
  }
}

/** Why it failed, in one line: the error, or what its caller was told. */
export function failureExcerpt({ status }: TaskRow, cause = ''): string | undefined {
  const own = messagesIn(cause, fullText(status.message))
  return own.length === 0
    ? messageExcerpt(status.message)
    : toExcerpt(redactCause(own.join(': '), 10 * maxExcerptLength))
}

/** An error and its causes without their stacks. What its caller received is left out: it is in the status. */
function messagesIn(cause: string, statusText: string | undefined): readonly string[] {
  const messages = cause.split('\nCaused by: ').map((text) => withoutStack(text).replace(/^(A2AError|Error): /, ''))
  return [...new Set(messages)].filter((text) => text !== '' && text !== statusText)
}

function childText({ agent, cause = '', statusText = '' }: FailedChild): string {
  const messages = messagesIn(cause, statusText)
  return [agent, ...(messages.length === 0 && statusText !== '' ? [statusText] : messages)].join(': ')
}

/** The error and its causes with their stacks, continued by that of the delegated task. `undefined` if there is no error. */
export function causeDetails({ cause, failedChild }: TaskFacts, maxLength: number): string | undefined {
  const ofChild =
    failedChild === undefined
      ? []
      : [`the task ${failedChild.taskId} of ${failedChild.agent}`, failedChild.cause ?? failedChild.statusText ?? '']
  const texts = [...(cause === undefined ? [] : [cause]), ...ofChild].filter((text) => text !== '')
  return texts.length === 0 ? undefined : redactCause(texts.join('\nCaused by: '), maxLength)
}

/** An error may contain a URL or a header with a secret in it. */
const redact = createRedactor()
/** A credential that continues behind the limit is recognized as one. */
const maxCredentialLength = 10_000

/** The beginning of an error without credentials. Its length is limited first: an agent chooses the text. */
export function redactCause(cause: string, maxLength: number): string {
  const text = redact.text(cause.slice(0, maxLength + maxCredentialLength))
  return text.slice(0, maxLength).toWellFormed()
}

/** A stack of Node begins after its message, a traceback of Python ends with it. */
function withoutStack(text: string): string {
  // Not `\s`, which would take quadratic time for a text of line breaks.
  const [message = ''] = text.split(/\n[^\S\n]+at /, 1)
  return message.replace(/^[^]*Traceback \(most recent call last\):\n(?:[^\S\n].*\n)+/, '').trim()
}

/**
 * Markdown in one line reads better without headings, bullets, emphasis and the lines of tables. Line by line, with patterns that
 * take linear time: an agent chooses the text.
 */
function withoutMarkdown(text: string): string {
  return text
    .split('\n')
    .map(plainLine)
    .join('\n')
    .replaceAll(/\*\*|__|`/g, '')
    .replaceAll(/\*(\S[^*\n]*)\*/g, '$1')
    .trim()
}

function plainLine(given: string): string {
  const line = given.trim()
  if (/^(?:```|~~~)/.test(line) || (line.includes('---') && /^[\s:|-]+$/.test(line))) return ''
  const text = line.replace(/^(?:#{1,6}|>|[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?/, '')
  return text.slice(text.startsWith('|') ? 1 : 0, text.endsWith('|') ? -1 : undefined)
}

/** Limit for the records before the first message. */
const maxFirstBytes = 100_000

/** The first message is among the first records; if the log was pruned, the snapshot has it. */
export async function firstMessageText(store: Pick<Store, 'tasks'>, taskId: string): Promise<string | undefined> {
  for (const { body } of await store.tasks.read(taskId, 0, 3, maxFirstBytes)) {
    if (body.type === 'message') return fullText(body.message)
  }
  const [first] = (await store.tasks.loadSnapshot(taskId))?.task.history ?? []
  return fullText(first)
}

/** The first message, as lists show it. */
export async function taskTitle(store: Pick<Store, 'tasks'>, taskId: string): Promise<string | undefined> {
  const text = await firstMessageText(store, taskId)
  return text === undefined || text === '' ? undefined : toExcerpt(text)
}

/** The beginning of the text without its Markdown, if there is any. */
function messageExcerpt(message: Message | undefined): string | undefined {
  const text = withoutMarkdown(fullText(message) ?? '')
  return text === '' ? undefined : toExcerpt(text)
}

function toExcerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= maxExcerptLength ? line : `${line.slice(0, maxExcerptLength).toWellFormed()}…`
}
