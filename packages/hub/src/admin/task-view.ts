/** A task in a list: its state, its owner and an excerpt of its first message. */
import { isTerminal, type Message, type Store, type TaskRow, omitUndefined, taskStates } from '@parley/a2a'
import { z } from 'zod'
import { isoTime } from '../http/json-response.ts'
import { timestamp } from './schema-fields.ts'
import { textOfParts } from '../agents/part-reader.ts'

export const taskState = z.enum(taskStates).exclude(['TASK_STATE_UNSPECIFIED'])

export const taskSummary = z
  .strictObject({
    id: z.string(),
    contextId: z.string(),
    agent: z.string(),
    caller: z.string().describe('The owner of the task.'),
    tenant: z.string(),
    state: z.string(),
    statusAt: timestamp,
    createdAt: timestamp,
    durationMs: z.number().optional().describe('From its first event to its end, once it has ended.'),
    title: z.string().optional().describe('The beginning of its first message.'),
    statusText: z.string().optional().describe('The beginning of its status message.'),
    head: z.int().describe('The seq of its last event.'),
    dueAt: timestamp.optional().describe('When its turn or its wait for input times out.'),
  })
  .meta({ id: 'TaskSummary' })

export type TaskSummary = z.output<typeof taskSummary>

/** Enough to recognize it. */
const maxExcerptLength = 200

export function taskSummaryOf(row: TaskRow, title: string | undefined): TaskSummary {
  const { id, contextId, agent, owner, tenant, status, statusAt, createdAt, head, due } = row
  const statusText = messageExcerpt(status.message)
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
    ...(title !== undefined && title !== '' ? { title: toExcerpt(title) } : {}),
    ...omitUndefined({ statusText }),
    head,
    ...(due !== undefined ? { dueAt: isoTime(due.at) } : {}),
  }
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

/** The beginning of the text, if there is any. */
export function messageExcerpt(message: Message | undefined): string | undefined {
  const text = fullText(message)
  return text === undefined || text === '' ? undefined : toExcerpt(text)
}

function fullText(message: Message | undefined): string | undefined {
  return message === undefined ? undefined : textOfParts(message.parts).trim()
}

function toExcerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= maxExcerptLength ? line : `${line.slice(0, maxExcerptLength).toWellFormed()}…`
}
