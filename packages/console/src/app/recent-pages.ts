/** Pages the user visited, to return to by name. Kept in the memory of this tab only. */

export interface RecentPage {
  readonly path: string
  readonly title: string
  readonly about: string
}

const maxRecentPages = 6

/** Newest first, without duplicates. */
export function addRecentPage(all: readonly RecentPage[], one: RecentPage): readonly RecentPage[] {
  return [one, ...all.filter(({ path }) => path !== one.path)].slice(0, maxRecentPages)
}

const itemNames: Readonly<Record<string, string>> = { agents: 'agent', tasks: 'task', traces: 'trace' }

/** The item that an address shows; `undefined` for a list. */
export function recentPageAt(page: string | undefined, rest: readonly string[], title: string): RecentPage | undefined {
  const about = itemNames[page ?? '']
  const [id] = rest
  if (page === undefined || about === undefined || id === undefined) return undefined
  // A page that names the item in its title has a better name than the id.
  const [name = ''] = title.split(' · ')
  const isNamed = name !== '' && name.toLowerCase() !== page && name !== 'Parley'
  return { path: `/${page}/${encodeURIComponent(id)}`, title: isNamed ? name : id, about }
}
