/** Where one is: every view, filter and selected event has an address, which survives a reload and can be sent to somebody. */
import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { isPage, placeOf, withQuery } from './address.ts'
import type { Place } from './address.ts'

export { pageNames } from './address.ts'
export type { PageName } from './address.ts'

const here = signal(new URL(location.href))

type Ask = () => Promise<boolean>
let guard: Ask | undefined

addEventListener('popstate', () => {
  const next = new URL(location.href)
  if (!isGuarded(next)) here.value = next
  else {
    // The browser has gone already: back to where one was, until it is known.
    history.pushState(null, '', here.peek())
    void leaveFor(next, {})
  }
})

export const path: ReadonlySignal<string> = computed(() => here.value.pathname)
export const query: ReadonlySignal<URLSearchParams> = computed(() => here.value.searchParams)

/** To another page, or to another place of this one. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  if (isGuarded(next)) return void leaveFor(next, { replace })
  if (replace) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  here.value = next
}

/** Asked before one leaves for another path, for as long as something would be lost; until the answered function is called. */
export function guardLeaving(ask: Ask): () => void {
  guard = ask
  return () => {
    if (guard === ask) guard = undefined
  }
}

function isGuarded(next: URL): boolean {
  return guard !== undefined && next.pathname !== here.peek().pathname
}

async function leaveFor(next: URL, how: { readonly replace?: boolean }): Promise<void> {
  if (guard !== undefined && !(await guard())) return
  guard = undefined
  go(next.href, how)
}

/** The same page with other filters; those that are empty are left out. A filter is no step to go back to. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, { push = false } = {}): void {
  go(withQuery(here.peek(), changes).href, { replace: !push })
}

/** Links are ordinary links: whoever opens one in another tab gets it there. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest('a')
  if (link === null || link.target !== '' || link.origin !== location.origin || link.hasAttribute('download')) return
  // To another place of the page that is shown, such as the content behind the rail.
  if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return
  if (!isPage(link.pathname)) return
  event.preventDefault()
  go(link.href)
}

/** `/tasks/1/events` is the page `tasks` with `['1', 'events']`. */
export const place: ReadonlySignal<Place> = computed(() => placeOf(path.value))
