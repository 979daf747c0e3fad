/** Where one was, to go back there by name. Kept by this tab alone, and only as long as it is open. */

export interface Recent {
  readonly path: string
  readonly title: string
  readonly about: string
}

const most = 6

/** The newest first, each once. */
export function withRecent(all: readonly Recent[], one: Recent): readonly Recent[] {
  return [one, ...all.filter(({ path }) => path !== one.path)].slice(0, most)
}

const things: Readonly<Record<string, string>> = { agents: 'agent', tasks: 'task', traces: 'trace' }

/** What an address shows, if it is one thing and not a list of them. */
export function thingAt(page: string | undefined, rest: readonly string[], title: string): Recent | undefined {
  const about = things[page ?? '']
  const [id] = rest
  if (page === undefined || about === undefined || id === undefined) return undefined
  // A page that names the thing in its title knows a better name than its id.
  const [name = ''] = title.split(' · ')
  const isNamed = name !== '' && name.toLowerCase() !== page && name !== 'Parley'
  return { path: `/${page}/${encodeURIComponent(id)}`, title: isNamed ? name : id, about }
}
