/** The page that the address names. Pages are loaded when first opened, so that the first one appears quickly. */
import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { callAdmin } from '../api/admin-client.ts'
import { isProblem, type Problem } from '../api/problem.ts'
import { PageHead } from '../components/layout/page-head.tsx'
import { EmptyState, FailureNotice, Loading, ErrorNotice } from '../components/status/error-notice.tsx'
import { navigate, path, pageRoute, type PageName } from './router.ts'
import { useStartPage } from './start-page.ts'

const pageLoaders: Readonly<Record<PageName, () => Promise<FunctionComponent>>> = {
  overview: async () => (await import('../pages/overview/overview-page.tsx')).OverviewPage,
  agents: async () => (await import('../pages/agents/agents-page.tsx')).AgentsPage,
  playground: async () => (await import('../pages/playground/playground-page.tsx')).PlaygroundPage,
  tasks: async () => (await import('../pages/tasks/tasks-page.tsx')).TasksPage,
  traces: async () => (await import('../pages/traces/traces-page.tsx')).TracesPage,
  webhooks: async () => (await import('../pages/webhooks/webhooks-page.tsx')).WebhooksPage,
  routes: async () => (await import('../pages/agents/routes/routes-redirect.tsx')).RoutesRedirect,
  settings: async () => (await import('../pages/settings/settings-page.tsx')).SettingsPage,
  welcome: async () => (await import('../pages/welcome/welcome-page.tsx')).WelcomePage,
}

const loadedPages = signal<Partial<Record<PageName, FunctionComponent>>>({})
/** Why a page could not be loaded: the hub is unreachable, which is tried again, or it was updated and its files differ. */
const loadFailure = signal<Problem | 'updated' | undefined>(undefined)
const retryMs = 1_000

async function loadPage(page: PageName): Promise<void> {
  if (loadedPages.peek()[page] !== undefined) return
  try {
    const Page = await pageLoaders[page]()
    loadedPages.value = { ...loadedPages.peek(), [page]: Page }
    loadFailure.value = undefined
  } catch {
    loadFailure.value = await callAdmin('getSession').then(
      () => 'updated' as const,
      (reason) => (isProblem(reason, 'UNREACHABLE') ? reason : 'updated'),
    )
    if (loadFailure.value !== 'updated') setTimeout(() => void loadPage(page), retryMs)
  }
}

/** Loads the page while the session is being checked. */
export function preloadPage(): void {
  const { page } = pageRoute.peek()
  if (page !== undefined || path.peek() === '/') void loadPage(page ?? 'overview')
}

/** The address changes once the page is loaded, so that what was loaded to choose it is still there. */
function StartPage() {
  const start = useStartPage()
  useEffect(() => {
    if (start === undefined) return
    void loadPage(start).then(() => path.peek() === '/' && navigate(`/${start}`, { replace: true }))
  }, [start])
  return <Loading what="the page" />
}

export function CurrentPage() {
  const { page } = pageRoute.value
  useEffect(() => {
    if (page !== undefined) void loadPage(page)
  }, [page])
  useFocusOnNavigation(page, page !== undefined && loadedPages.value[page] !== undefined)
  if (page === undefined) {
    return path.value === '/' ? (
      <StartPage />
    ) : (
      <>
        <PageHead title="Page not found" />
        <EmptyState title={`Nothing is at ${path.value}`}>
          <a class="button" href="/">
            Open overview
          </a>
        </EmptyState>
      </>
    )
  }
  const Page = loadedPages.value[page]
  if (Page !== undefined) return <Page key={page} />
  if (loadFailure.value === 'updated') {
    return (
      <FailureNotice
        title="This page could not be loaded"
        advice="The hub may have been updated while the console was open. Reload it to use the new version."
        actions={
          <button type="button" class="small" onClick={() => location.reload()}>
            Reload
          </button>
        }
      />
    )
  }
  if (loadFailure.value !== undefined) return <ErrorNotice reason={loadFailure.value} />
  return <Loading what="the page" />
}

/**
 * When the user navigates to another page, moves the focus to its heading, unless the page itself has set the focus. Not on the
 * first page, where the browser starts at the top anyway.
 */
function useFocusOnNavigation(page: PageName | undefined, isLoaded: boolean): void {
  const last = useRef(page)
  useEffect(() => {
    if (!isLoaded || last.current === page) return
    const isFirst = last.current === undefined
    last.current = page
    const content = document.querySelector<HTMLElement>('main')
    if (isFirst || content === null || content.contains(document.activeElement)) return
    const heading = content.querySelector<HTMLElement>('h1') ?? content
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }, [page, isLoaded])
}
