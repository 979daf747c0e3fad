/** The router: every view, filter and selected event has an address, which survives a reload and can be shared. */
import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { isConsolePath, parsePageRoute, withQuery, type PageRoute } from './page-route.ts'

export type { PageName } from './page-route.ts'

const currentUrl = signal(new URL(location.href))

type LeaveGuard = () => Promise<boolean>
let leaveGuard: LeaveGuard | undefined

addEventListener('popstate', () => {
  const next = new URL(location.href)
  if (!needsLeaveConfirmation(next)) currentUrl.value = next
  else {
    // The browser has already navigated: go back until the guard has decided.
    history.pushState(null, '', currentUrl.peek())
    void navigateIfConfirmed(next, {})
  }
})

export const path: ReadonlySignal<string> = computed(() => currentUrl.value.pathname)
export const query: ReadonlySignal<URLSearchParams> = computed(() => currentUrl.value.searchParams)

/** Goes to another page, or to another view of this one. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  if (needsLeaveConfirmation(next)) return void navigateIfConfirmed(next, { replace })
  if (replace) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  currentUrl.value = next
}

/** Asks before the user leaves for another path, while work would be lost. Returns a function that removes the guard. */
export function setLeaveGuard(ask: LeaveGuard): () => void {
  leaveGuard = ask
  return () => {
    if (leaveGuard === ask) leaveGuard = undefined
  }
}

function needsLeaveConfirmation(next: URL): boolean {
  return leaveGuard !== undefined && next.pathname !== currentUrl.peek().pathname
}

async function navigateIfConfirmed(next: URL, how: { readonly replace?: boolean }): Promise<void> {
  if (leaveGuard !== undefined && !(await leaveGuard())) return
  leaveGuard = undefined
  navigate(next.href, how)
}

/** The same page with other filters; empty ones are removed. By default a filter adds no history entry. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, { push = false } = {}): void {
  navigate(withQuery(currentUrl.peek(), changes).href, { replace: !push })
}

/** Removes filters. */
export function clearQuery(names: readonly string[]): void {
  setQuery(Object.fromEntries(names.map((name) => [name, undefined])), { push: true })
}

/** Links are ordinary links, so opening one in a new tab works. */
export function handleLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest('a')
  if (link === null || link.target !== '' || link.origin !== location.origin || link.hasAttribute('download')) return
  // A link within the current page, such as "skip to content".
  if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return
  if (!isConsolePath(link.pathname)) return
  event.preventDefault()
  navigate(link.href)
}

/** `/tasks/1/events` is the page `tasks` with `['1', 'events']`. */
export const pageRoute: ReadonlySignal<PageRoute> = computed(() => parsePageRoute(path.value))
