/**
 * Webhooks of all tasks, a page at a time. Their state the store finds itself; an agent or a text is looked for in what
 * comes, so many webhooks a page and no more: whoever wants to look further asks for the next page.
 */
import type { Store } from '@parley/a2a'
import type { HandlerPush } from '@parley/a2a/server'
import { type PushSummary, summaryOf } from './push-view.ts'

export type PushSearchDesk = Pick<HandlerPush, 'search' | 'attempts'>

export interface PushQuery {
  readonly limit: number
  readonly before?: number | undefined
  readonly state?: PushSummary['state'] | undefined
  readonly agent?: string | undefined
  /** Whatever the case. */
  readonly text?: string | undefined
}

export interface PushPage {
  readonly push: readonly PushSummary[]
  readonly before?: number
}

/** Looked at for one page, however few of them fit. */
const mostSearched = 1_000

export async function searchPush(
  store: Pick<Store, 'load' | 'read' | 'loadSnapshot'>,
  desk: PushSearchDesk,
  { limit, before, state, agent, text }: PushQuery,
): Promise<PushPage> {
  const words = text?.toLowerCase()
  let place = before
  for (let searched = 0; ;) {
    const page = await desk.search({
      limit,
      ...(place !== undefined ? { before: place } : {}),
      ...(state !== undefined ? { state } : {}),
    })
    const found = await Promise.all(
      page.cursors.map(async (cursor) =>
        summaryOf(store, cursor.taskId, cursor, await desk.attempts(cursor.taskId, cursor.id, 1)),
      ),
    )
    const push = found.filter(
      (one) => (agent === undefined || one.agent === agent) && (words === undefined || holds(one, words)),
    )
    searched += page.cursors.length
    // A page of the store is not taken apart: there is no place in the middle of it to go on from.
    if (page.before === undefined || push.length > 0 || searched >= mostSearched) {
      return { push, ...(page.before !== undefined ? { before: page.before } : {}) }
    }
    place = page.before
  }
}

function holds({ taskId, configId, url, agent, title, last }: PushSummary, words: string): boolean {
  return [url, taskId, configId, agent, title, last?.outcome, last?.answer].some(
    (one) => one?.toLowerCase().includes(words) === true,
  )
}
