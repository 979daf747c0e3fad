/** Where one is: every view, filter and selected event has an address, which survives a reload and can be sent to somebody. */
import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'

const here = signal(new URL(location.href))

addEventListener('popstate', () => (here.value = new URL(location.href)))

export const path: ReadonlySignal<string> = computed(() => here.value.pathname)
export const query: ReadonlySignal<URLSearchParams> = computed(() => here.value.searchParams)

/** To another page, or to another place of this one. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  if (replace) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  here.value = next
}

/** The same page with other filters; those that are empty are left out. A filter is no step to go back to. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, { push = false } = {}): void {
  const next = new URL(here.peek())
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  go(next.href, { replace: !push })
}

/** Links are ordinary links: whoever opens one in another tab gets it there. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest('a')
  if (link === null || link.target !== '' || link.origin !== location.origin || link.hasAttribute('download')) return
  if (!isPage(link.pathname)) return
  event.preventDefault()
  go(link.href)
}

/** The hub serves this page for these; everything else is somebody else's. */
export const pageNames = ['agents', 'playground', 'tasks', 'traces', 'push', 'routes', 'settings', 'welcome'] as const
export type PageName = (typeof pageNames)[number]

function isPage(pathname: string): boolean {
  return pathname === '/' || pageNames.some((name) => pathname === `/${name}` || pathname.startsWith(`/${name}/`))
}

/** `/tasks/1/events` is the page `tasks` with `['1', 'events']`. */
export const place: ReadonlySignal<{ readonly page: PageName | undefined; readonly rest: readonly string[] }> =
  computed(() => {
    const [first = '', ...rest] = path.value.split('/').filter((part) => part !== '')
    return { page: pageNames.find((name) => name === first), rest: rest.map(decoded) }
  })

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
