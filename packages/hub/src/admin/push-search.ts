/**
 * Webhooks of all tasks, in pages. The store filters by state. Agent and text are matched while reading, up to a fixed number of
 * webhooks per page; clients that search further request the next page.
 */
import { omitUndefined } from '@parley/a2a'
import type { Store } from '@parley/a2a'
import type { HandlerPush } from '@parley/a2a/server'
import { type PushSummary, loadPushSummary } from './push-view.ts'

export type PushSearchSource = Pick<HandlerPush, 'search' | 'attempts'>

export interface PushQuery {
  readonly limit: number
  readonly before?: number | undefined
  readonly state?: PushSummary['state'] | undefined
  readonly agent?: string | undefined
  /** Ignores case. */
  readonly text?: string | undefined
}

export interface PushPage {
  readonly push: readonly PushSummary[]
  readonly before?: number
}

/** Webhooks read for one page, regardless of the number of matches. */
const maxSearched = 1_000

export async function searchPush(
  store: Pick<Store, 'tasks'>,
  source: PushSearchSource,
  { limit, before, state, agent, text }: PushQuery,
): Promise<PushPage> {
  const needle = text?.toLowerCase()
  let place = before
  for (let searched = 0; ;) {
    const page = await source.search({
      limit,
      ...omitUndefined({ before: place, state }),
    })
    const found = await Promise.all(
      page.cursors.map(async (cursor) =>
        loadPushSummary(store, cursor.taskId, cursor, await source.attempts(cursor.taskId, cursor.id, 1)),
      ),
    )
    const push = found.filter(
      (one) => (agent === undefined || one.agent === agent) && (needle === undefined || matchesText(one, needle)),
    )
    searched += page.cursors.length
    // A page of the store is not split: there is no cursor inside it.
    if (page.before === undefined || push.length > 0 || searched >= maxSearched) {
      return { push, ...omitUndefined({ before: page.before }) }
    }
    place = page.before
  }
}

function matchesText({ taskId, configId, url, agent, title, last }: PushSummary, needle: string): boolean {
  return [url, taskId, configId, agent, title, last?.outcome, last?.answer].some(
    (one) => one?.toLowerCase().includes(needle) === true,
  )
}
