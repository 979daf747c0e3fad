/** What the command palette finds: recent pages, pages, actions of the current page, and matches from the hub. */
import { signal } from '@preact/signals'
import { callAdmin } from '../api/admin-client.ts'
import type { IconName } from '../components/icon.tsx'
import { confirmSignOut } from './confirm-sign-out.ts'
import { pageActions, type PaletteAction } from './palette-state.ts'
import { welcomePage, pages } from './page-list.ts'
import { recentPageAt, addRecentPage, type RecentPage } from './recent-pages.ts'
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

function link(group: string, icon: IconName, title: string, to: string, about = ''): PaletteEntry {
  return { icon, title, about, group, run: () => navigate(to) }
}

function recentEntries(): readonly PaletteEntry[] {
  return recentPages.value
    .filter(({ path: to }) => !path.value.startsWith(to))
    .map(({ path: to, title, about }) => {
      const icon = about === 'agent' ? 'agents' : about === 'task' ? 'tasks' : 'traces'
      return link('Recent', icon, title, to, about)
    })
}

const settingsSections = ['health', 'config', 'keys', 'callers', 'audit', 'about']

function pageEntries(): readonly PaletteEntry[] {
  return [
    ...[...pages, welcomePage].map(({ page, title, icon, key }) => ({
      ...link('Pages', icon, title, `/${page}`),
      keys: `g ${key}`,
    })),
    link('Pages', 'compare', 'Compare agents', '/playground/compare'),
    ...settingsSections.map((name) => link('Pages', 'settings', `Settings: ${name}`, `/settings/${name}`)),
  ]
}

function actionEntries(): readonly PaletteEntry[] {
  const own: readonly PaletteEntry[] = [
    {
      icon: isDark.value ? 'sun' : 'moon',
      title: isDark.value ? 'Light theme' : 'Dark theme',
      about: '',
      group: 'Actions',
      run: () => chooseTheme(isDark.value ? 'light' : 'dark'),
    },
    {
      icon: 'out',
      title: 'Sign out',
      about: '',
      group: 'Actions',
      run: () => void confirmSignOut(),
    },
  ]
  const offered = pageActions.value.flat().map((action): PaletteEntry => ({
    ...action,
    icon: 'play',
    about: 'on this page',
    group: 'Actions',
  }))
  return [...offered, ...own]
}

export async function searchHub(text: string, signal: AbortSignal): Promise<readonly PaletteEntry[]> {
  const { agents, tasks, keys } = await callAdmin('search', { query: { q: text }, signal })
  return [
    ...agents.map(({ name, kind }) => link('Agents', 'agents', name, `/agents/${encodeURIComponent(name)}`, kind)),
    ...tasks.map(({ id, agent, title }) => link('Tasks', 'tasks', title ?? id, `/tasks/${id}`, `by ${agent}`)),
    ...keys.map(({ id, name }) => link('Keys', 'key', name, `/settings/keys?key=${id}`)),
  ]
}

/** For other text: search the tasks for it. */
export function searchEntries(text: string): readonly PaletteEntry[] {
  if (text === '') return []
  return [link('Search', 'search', `Tasks that contain “${text}”`, `/tasks?${new URLSearchParams({ text })}`)]
}
