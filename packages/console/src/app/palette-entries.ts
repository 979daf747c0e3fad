/** What the command palette finds: recent pages, pages, actions of the current page, and matches from the hub. */
import { signal } from '@preact/signals'
import { callAdmin } from '../api/admin-client.ts'
import type { IconName } from '../components/icon.tsx'
import { confirmSignOut } from './confirm-sign-out.ts'
import { pageActions } from './palette-state.ts'
import type { PaletteAction } from './palette-state.ts'
import { welcomePage, pages } from './page-list.ts'
import { recentPageAt, addRecentPage } from './recent-pages.ts'
import type { RecentPage } from './recent-pages.ts'
import { navigate, path } from './router.ts'
import { chooseTheme, isDark } from './theme.ts'

export interface PaletteEntry extends PaletteAction {
  readonly icon: IconName
  readonly about: string
  readonly group: string
  /** Shortcut for the same action. */
  readonly keys?: string
}

const recentPages = signal<readonly RecentPage[]>([])

/** Called when the user leaves a page, because only then is its title known. */
export function recordRecentPage(at: { page: string | undefined; segments: readonly string[] }, title: string): void {
  const thing = recentPageAt(at.page, at.segments, title)
  if (thing !== undefined) recentPages.value = addRecentPage(recentPages.peek(), thing)
}

export function localEntries(text: string): readonly PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/)
  const isMatch = ({ title }: PaletteEntry): boolean => words.every((word) => title.toLowerCase().includes(word))
  return [...recentEntries(), ...pageEntries(), ...actionEntries()].filter(isMatch)
}

function recentEntries(): readonly PaletteEntry[] {
  return recentPages.value
    .filter(({ path: to }) => !path.value.startsWith(to))
    .map(({ path: to, title, about }) => ({
      icon: about === 'agent' ? 'agents' : about === 'task' ? 'tasks' : 'traces',
      title,
      about,
      group: 'Recent',
      run: () => navigate(to),
    }))
}

const settingsSections = ['health', 'config', 'keys', 'audit', 'about']

function pageEntries(): readonly PaletteEntry[] {
  return [
    ...[...pages, welcomePage].map(({ page, title, icon, key }): PaletteEntry => ({
      icon,
      title,
      about: '',
      keys: `g ${key}`,
      group: 'Pages',
      run: () => navigate(`/${page}`),
    })),
    ...settingsSections.map((name): PaletteEntry => ({
      icon: 'settings',
      title: `Settings: ${name}`,
      about: '',
      group: 'Pages',
      run: () => navigate(`/settings/${name}`),
    })),
  ]
}

function actionEntries(): readonly PaletteEntry[] {
  const own: readonly PaletteEntry[] = [
    {
      icon: isDark.value ? 'sun' : 'moon',
      title: isDark.value ? 'Light colours' : 'Dark colours',
      about: '',
      group: 'Actions',
      run: () => chooseTheme(isDark.value ? 'light' : 'dark'),
    },
    { icon: 'out', title: 'Sign out', about: '', group: 'Actions', run: () => void confirmSignOut() },
  ]
  const offered = pageActions.value
    .flat()
    .map((action): PaletteEntry => ({ ...action, icon: 'play', about: 'on this page', group: 'Actions' }))
  return [...offered, ...own]
}

export async function searchHub(text: string, signal: AbortSignal): Promise<readonly PaletteEntry[]> {
  const { agents, tasks, keys } = await callAdmin('search', { query: { q: text }, signal })
  return [
    ...agents.map(({ name, kind }): PaletteEntry => ({
      icon: 'agents',
      title: name,
      about: kind,
      group: 'Agents',
      run: () => navigate(`/agents/${encodeURIComponent(name)}`),
    })),
    ...tasks.map(({ id, agent, title }): PaletteEntry => ({
      icon: 'tasks',
      title: title ?? id,
      about: `of ${agent}`,
      group: 'Tasks',
      run: () => navigate(`/tasks/${id}`),
    })),
    ...keys.map(({ id, name }): PaletteEntry => ({
      icon: 'key',
      title: name,
      about: '',
      group: 'Keys',
      run: () => navigate(`/settings/keys?key=${id}`),
    })),
  ]
}

/** For other text: search the tasks for it. */
export function searchEntries(text: string): readonly PaletteEntry[] {
  if (text === '') return []
  return [
    {
      icon: 'search',
      title: `Tasks that say “${text}”`,
      about: '',
      group: 'Search',
      run: () => navigate(`/tasks?${new URLSearchParams({ text })}`),
    },
  ]
}
