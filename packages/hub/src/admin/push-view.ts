/** A webhook as whoever runs the hub sees it: how far it has been told, and when it is tried next. */
import type { PushCursor } from '@parley/a2a/server'
import { z } from 'zod'
import { time } from './answer.ts'
import { instant } from './fields.ts'

export const pushState = z
  .enum(['active', 'dead', 'done'])
  .meta({ description: 'Dead: given up after the last try. Done: the task has ended, and all of it was told.' })

export const pushCursor = z
  .strictObject({
    taskId: z.string(),
    configId: z.string(),
    url: z.string(),
    state: pushState,
    deliveredSeq: z.int().meta({ description: 'All events up to this one are delivered.' }),
    attempt: z.int().meta({ description: 'How often the next one was tried.' }),
    dueAt: instant.optional().meta({ description: 'When it is tried next.' }),
    createdAt: instant.optional(),
  })
  .meta({ id: 'PushCursor' })

export function shownCursor(taskId: string, cursor: PushCursor & { readonly createdAt?: number }) {
  const { id, url, state, deliveredSeq, attempt, dueAt, createdAt } = cursor
  return {
    taskId,
    configId: id,
    url: withoutSecrets(url),
    state,
    deliveredSeq,
    attempt,
    ...(dueAt !== undefined ? { dueAt: time(dueAt) } : {}),
    ...(createdAt !== undefined ? { createdAt: time(createdAt) } : {}),
  }
}

/** Some put a secret into the address itself. */
function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.username = ''
  url.password = ''
  for (const name of url.searchParams.keys()) url.searchParams.set(name, '…')
  return url.href
}
