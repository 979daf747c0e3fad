/** Parses addresses. Separate from the router, which needs a browser. */

/** The build tells the hub (`pages.json`) that it serves the console under these paths; all others belong to agents and APIs. */
export const pageNames = [
  'overview',
  'agents',
  'playground',
  'tasks',
  'traces',
  'webhooks',
  'routes',
  'settings',
  'welcome',
] as const
export type PageName = (typeof pageNames)[number]

export interface PageRoute {
  readonly page: PageName | undefined
  readonly segments: readonly string[]
}

export function isConsolePath(pathname: string): boolean {
  return pathname === '/' || pageNames.some((name) => pathname === `/${name}` || pathname.startsWith(`/${name}/`))
}

/** `/tasks/1/events` is the page `tasks` with `['1', 'events']`. */
export function parsePageRoute(pathname: string): PageRoute {
  const [first = '', ...rest] = pathname.split('/').filter((part) => part !== '')
  return { page: pageNames.find((name) => name === first), segments: rest.map(decodeSegment) }
}

/** The same page with other filters; empty ones are removed. */
export function withQuery(from: URL, changes: Readonly<Record<string, string | undefined>>): URL {
  const next = new URL(from)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  return next
}

/** The path to return to after sign-in. Always a path of this hub, so that it is safe to send to an identity provider. */
export function signInReturnPath({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams)
  query.delete('signInError')
  return (query.size === 0 ? pathname : `${pathname}?${query}`).replace(/^[/\\]+/, '/')
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
