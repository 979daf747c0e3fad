/** What addresses mean. Apart from the router, which needs a browser. */

/** The hub serves the console for these; everything else is somebody else's. */
export const pageNames = ['agents', 'playground', 'tasks', 'traces', 'push', 'routes', 'settings', 'welcome'] as const
export type PageName = (typeof pageNames)[number]

export interface Place {
  readonly page: PageName | undefined
  readonly rest: readonly string[]
}

export function isPage(pathname: string): boolean {
  return pathname === '/' || pageNames.some((name) => pathname === `/${name}` || pathname.startsWith(`/${name}/`))
}

/** `/tasks/1/events` is the page `tasks` with `['1', 'events']`. */
export function placeOf(pathname: string): Place {
  const [first = '', ...rest] = pathname.split('/').filter((part) => part !== '')
  return { page: pageNames.find((name) => name === first), rest: rest.map(decoded) }
}

/** The same place with other filters; those that are empty are left out. */
export function withQuery(from: URL, changes: Readonly<Record<string, string | undefined>>): URL {
  const next = new URL(from)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  return next
}

/** A path of this hub and nothing else, as it may be given to somebody who sends the browser back. */
export function returnPath({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams)
  query.delete('signInError')
  return (query.size === 0 ? pathname : `${pathname}?${query}`).replace(/^[/\\]+/, '/')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
