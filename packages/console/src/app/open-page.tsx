/** The page that the address names. Each is loaded when it is first opened, so that the first one is there at once. */
import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { PageHead } from '../parts/sheet.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { go, path, place } from './router.ts'
import type { PageName } from './router.ts'

const loaders: Readonly<Record<PageName, () => Promise<FunctionComponent>>> = {
  agents: async () => (await import('../pages/agents/agents-page.tsx')).AgentsPage,
  playground: async () => (await import('../pages/playground/playground-page.tsx')).PlaygroundPage,
  tasks: async () => (await import('../pages/tasks/tasks-page.tsx')).TasksPage,
  traces: async () => (await import('../pages/traces/traces-page.tsx')).TracesPage,
  push: async () => (await import('../pages/push/push-page.tsx')).PushPage,
  routes: async () => (await import('../pages/routes/routes-page.tsx')).RoutesPage,
  settings: async () => (await import('../pages/settings/settings-page.tsx')).SettingsPage,
  welcome: async () => (await import('../pages/welcome/welcome-page.tsx')).WelcomePage,
}

const loaded = signal<Partial<Record<PageName, FunctionComponent>>>({})
const failed = signal<unknown>(undefined)

async function load(page: PageName): Promise<void> {
  if (loaded.peek()[page] !== undefined) return
  try {
    const Page = await loaders[page]()
    loaded.value = { ...loaded.peek(), [page]: Page }
    failed.value = undefined
  } catch (reason) {
    failed.value = reason
  }
}

/** While it is found out who looks: by then the page is there. */
export function fetchPage(): void {
  void load(place.peek().page ?? 'welcome')
}

export function OpenPage() {
  const { page } = place.value
  useEffect(() => {
    if (page !== undefined) void load(page)
    else if (path.value === '/') go('/welcome', { replace: true })
  }, [page, path.value])
  useFocusOnArrival(page, page !== undefined && loaded.value[page] !== undefined)
  if (page === undefined) {
    return path.value === '/' ? null : (
      <>
        <PageHead title="Page not found" />
        <Empty title={`Nothing is at ${path.value}`}>
          <a class="button" href="/welcome">
            Open the start page
          </a>
        </Empty>
      </>
    )
  }
  const Page = loaded.value[page]
  if (Page !== undefined) return <Page key={page} />
  if (failed.value !== undefined) {
    // After an update of the hub the files have other names.
    return <Trouble reason={failed.value} retry={() => location.reload()} />
  }
  return <Loading what="the page" />
}

/**
 * Who goes to another page by the rail or a key begins to read there: at its heading, unless the page itself said where.
 * Not on the first one, where the browser begins at the top anyway.
 */
function useFocusOnArrival(page: PageName | undefined, isThere: boolean): void {
  const last = useRef(page)
  useEffect(() => {
    if (!isThere || last.current === page) return
    const isFirst = last.current === undefined
    last.current = page
    const content = document.querySelector<HTMLElement>('main')
    if (isFirst || content === null || content.contains(document.activeElement)) return
    const heading = content.querySelector<HTMLElement>('h1') ?? content
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }, [page, isThere])
}
