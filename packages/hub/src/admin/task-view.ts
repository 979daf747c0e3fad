/** A task as lists show it: where it stands, whose it is, and the first words of it. */
import { isTerminal, type Message, type Store, type TaskRow } from '@parley/a2a'
import { z } from 'zod'
import { time } from './answer.ts'
import { instant } from './fields.ts'

export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const
export const taskState = z.enum(taskStates)

export const taskSummary = z
  .strictObject({
    id: z.string(),
    contextId: z.string(),
    agent: z.string(),
    caller: z.string().meta({ description: 'Whose task it is.' }),
    tenant: z.string(),
    state: z.string(),
    statusAt: instant,
    createdAt: instant,
    durationMs: z.number().optional().meta({ description: 'From its first event to its end, once it has ended.' }),
    title: z.string().optional().meta({ description: 'The first words of the message that began it.' }),
    statusText: z.string().optional().meta({ description: 'The first words of its status.' }),
    head: z.int().meta({ description: 'The number of its last event.' }),
    dueAt: instant.optional().meta({ description: 'When something happens by itself: its turn or its wait ends.' }),
  })
  .meta({ id: 'TaskSummary' })

export type TaskSummary = z.output<typeof taskSummary>

/** Enough to know it again. */
const longest = 200

export function summaryOf(row: TaskRow, title: string | undefined): TaskSummary {
  const { id, contextId, agent, owner, tenant, status, statusAt, createdAt, head, due } = row
  const statusText = textIn(status.message)
  return {
    id,
    contextId,
    agent,
    caller: owner,
    tenant,
    state: status.state,
    statusAt: time(statusAt),
    createdAt: time(createdAt),
    ...(isTerminal(status.state) ? { durationMs: Math.max(0, statusAt - createdAt) } : {}),
    ...(title !== undefined && title !== '' ? { title: cut(title) } : {}),
    ...(statusText !== undefined ? { statusText } : {}),
    head,
    ...(due !== undefined ? { dueAt: time(due.at) } : {}),
  }
}

/** As much as the records before it may take. */
const firstBytes = 100_000

/** The message that began a task is among the first records; of a log that was dropped, the snapshot has it. */
export async function firstText(
  store: Pick<Store, 'read' | 'loadSnapshot'>,
  taskId: string,
): Promise<string | undefined> {
  for (const { body } of await store.read(taskId, 0, 3, firstBytes)) {
    if (body.type === 'message') return wholeText(body.message)
  }
  const [first] = (await store.loadSnapshot(taskId))?.task.history ?? []
  return wholeText(first)
}

/** The same, as lists show it. */
export async function titleOf(
  store: Pick<Store, 'read' | 'loadSnapshot'>,
  taskId: string,
): Promise<string | undefined> {
  const text = await firstText(store, taskId)
  return text === undefined || text === '' ? undefined : cut(text)
}

/** The first words, if there are any. */
export function textIn(message: Message | undefined): string | undefined {
  const text = wholeText(message)
  return text === undefined || text === '' ? undefined : cut(text)
}

function wholeText(message: Message | undefined): string | undefined {
  const texts = message?.parts.flatMap((part) => ('text' in part ? [part.text] : []))
  return texts?.join('\n').trim()
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= longest ? line : `${line.slice(0, longest).toWellFormed()}…`
}
