/** `/admin/search`: goes to anything, by a few letters of it. */
import type { Store } from '@parley/a2a'
import { z } from 'zod'
import type { Keys } from '../../auth/keys.ts'
import { fits, listedAgent } from '../../discovery/listed-agent.ts'
import type { Registry } from '../../registry.ts'
import { limit } from '../fields.ts'
import { keyInfo, shownKey } from '../key-fields.ts'
import { type Route, route } from '../route.ts'
import { firstText, summaryOf, taskSummary } from '../task-view.ts'

export interface SearchRouteParts {
  readonly registry: Pick<Registry, 'names' | 'status'>
  readonly store: Pick<Store, 'findTasks' | 'search' | 'read' | 'loadSnapshot'>
  readonly keys: Pick<Keys, 'get'>
  url(): string | undefined
}

/** Fewer letters are the beginning of nearly everything. */
const fewestLetters = 4

export function searchRoutes({ registry, store, keys, url }: SearchRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/search',
      name: 'search',
      summary: 'Finds agents by name and skill, tasks by the beginning of an id or by context, keys by id.',
      tag: 'Search',
      query: z.strictObject({ q: z.string().trim().min(1, 'say what').max(200), limit: limit(10, 50) }),
      answer: z.strictObject({
        agents: z.array(z.strictObject({ name: z.string(), kind: z.string(), title: z.string() })),
        tasks: z.array(taskSummary),
        keys: z.array(keyInfo),
      }),
      async handle({ query: { q, limit: most } }) {
        const agents = registry.names().flatMap((name) => {
          const status = registry.status(name)
          if (status === undefined || !fits(listedAgent(status, url() ?? ''), { text: q })) return []
          return [{ name, kind: status.kind, title: status.settings.name ?? name }]
        })
        const [tasks, key] = await Promise.all([findTasks(q, most), keys.get(q.replace(/^pk_/, '').slice(0, 12))])
        return { agents: agents.slice(0, most), tasks, keys: key === undefined ? [] : [shownKey(key)] }
      },
    }),
  ]

  async function findTasks(text: string, most: number) {
    if (text.length < fewestLetters || /\s/.test(text)) return []
    const byId = await store.findTasks(text, most)
    const rows = byId.length > 0 ? byId : (await store.search({ contextId: text, limit: most })).tasks
    return Promise.all(rows.map(async (row) => summaryOf(row, await firstText(store, row.id))))
  }
}
