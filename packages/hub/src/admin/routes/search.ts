/** `/admin/search`: finds agents, tasks and keys by name, id or text. */
import type { Store } from '@parley/a2a/stores'
import { z } from 'zod'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { matchesFilter, toListedAgent } from '../../discovery/listed-agent.ts'
import type { AgentRegistry } from '../../registry/agent-registry.ts'
import { limitField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'
import { keyInfo, keyToJson } from '../key-fields.ts'
import type { TaskFactsReader } from '../task-facts.ts'
import { searchTasks } from '../task-search.ts'
import { taskSummaryOf, taskSummary } from '../task-view.ts'

export interface SearchRoutesDeps {
  readonly registry: Pick<AgentRegistry, 'names' | 'status'>
  readonly store: Pick<Store, 'tasks'>
  readonly facts: TaskFactsReader
  readonly keys: Pick<ApiKeys, 'get' | 'list'>
  readonly now: () => number
  url(): string | undefined
}

/** Fewer letters match nearly everything. */
const minQueryLength = 4
const maxSearchedKeys = 1_000

export function searchRoutes({ registry, store, facts, keys, now, url }: SearchRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Search', [
    jsonRoute('GET /admin/search', {
      name: 'search',
      summary:
        'Finds agents by name and skill, tasks by the beginning of an id, by context or by text, keys by id, name or principal.',
      description: 'The text is searched in the newest 1,000 tasks and in 1,000 keys.',
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
        const [tasks, found] = await Promise.all([findTasks(q, most), findKeys(q, most)])
        return { agents: agents.slice(0, most), tasks, keys: found.map(keyToJson) }
      },
    }),
  ])

  async function findTasks(text: string, most: number) {
    if (text.length < minQueryLength) return []
    const byId = /\s/.test(text) ? [] : await store.tasks.findTasks(text, most)
    const rows = byId.length > 0 ? byId : (await store.tasks.search({ contextId: text, limit: most })).tasks
    if (rows.length === 0) return [...(await searchTasks({ store, facts, now }, { text, limit: most })).tasks]
    return Promise.all(rows.map(async (row) => taskSummaryOf(row, await facts.read(row))))
  }

  async function findKeys(text: string, most: number) {
    const byId = await keys.get(text.replace(/^pk_/, '').slice(0, 12))
    if (byId !== undefined) return [byId]
    const needle = text.toLowerCase()
    const all = (await keys.list({ limit: maxSearchedKeys })).keys
    return all.filter((key) => `${key.name}\n${key.principal}`.toLowerCase().includes(needle)).slice(0, most)
  }
}
