/** `/admin/search`: finds agents, tasks and keys by name or id. */
import type { Store } from '@parley/a2a'
import { z } from 'zod'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { matchesFilter, toListedAgent } from '../../discovery/listed-agent.ts'
import type { AgentRegistry } from '../../registry/agent-registry.ts'
import { limitField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'
import { keyInfo, keyToJson } from '../key-fields.ts'
import type { TaskFactsReader } from '../task-facts.ts'
import { taskSummaryOf, taskSummary } from '../task-view.ts'

export interface SearchRoutesDeps {
  readonly registry: Pick<AgentRegistry, 'names' | 'status'>
  readonly store: Pick<Store, 'tasks'>
  readonly facts: TaskFactsReader
  readonly keys: Pick<ApiKeys, 'get'>
  url(): string | undefined
}

/** Fewer letters match nearly everything. */
const minQueryLength = 4

export function searchRoutes({ registry, store, facts, keys, url }: SearchRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Search', [
    jsonRoute('GET /admin/search', {
      name: 'search',
      summary: 'Finds agents by name and skill, tasks by the beginning of an id or by context, keys by id.',
      query: z.strictObject({ q: z.string().trim().min(1, 'say what').max(200), limit: limitField(10, 50) }),
      response: z.strictObject({
        agents: z.array(z.strictObject({ name: z.string(), kind: z.string(), title: z.string() })),
        tasks: z.array(taskSummary),
        keys: z.array(keyInfo),
      }),
      async handle({ query: { q, limit: most } }) {
        const agents = registry.names().flatMap((name) => {
          const status = registry.status(name)
          if (status === undefined || !matchesFilter(toListedAgent(status, url() ?? ''), { text: q })) return []
          return [{ name, kind: status.kind, title: status.settings.name ?? name }]
        })
        const [tasks, key] = await Promise.all([findTasks(q, most), keys.get(q.replace(/^pk_/, '').slice(0, 12))])
        return { agents: agents.slice(0, most), tasks, keys: key === undefined ? [] : [keyToJson(key)] }
      },
    }),
  ])

  async function findTasks(text: string, most: number) {
    if (text.length < minQueryLength || /\s/.test(text)) return []
    const byId = await store.tasks.findTasks(text, most)
    const rows = byId.length > 0 ? byId : (await store.tasks.search({ contextId: text, limit: most })).tasks
    return Promise.all(rows.map(async (row) => taskSummaryOf(row, await facts.read(row))))
  }
}
