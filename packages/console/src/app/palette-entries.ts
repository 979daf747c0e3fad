/** What the command palette finds: recent pages, pages, actions of the current page, and matches from the hub. */
import { signal } from '@preact/signals'
import { callAdmin } from '../api/admin-client.ts'
import type { IconName } from '../components/icon.tsx'
import { confirmSignOut } from './confirm-sign-out.ts'
import { pageActions, type PaletteAction } from './palette-state.ts'
import { welcomePage, pages } from './page-list.ts'
import { recentPageAt, addRecentPage, type RecentPage } from './recent-pages.ts'
import { navigate, path } from './router.ts'
import { frameStrings, paletteStrings } from './strings.ts'
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
      return link(paletteStrings.recent, icon, title, to, about)
    })
}

const settingsSections = ['health', 'config', 'keys', 'audit', 'about']

function pageEntries(): readonly PaletteEntry[] {
  return [
    ...[...pages, welcomePage].map(({ page, title, icon, key }) => ({
      ...link(paletteStrings.pages, icon, title, `/${page}`),
      keys: `g ${key}`,
    })),
    link(paletteStrings.pages, 'compare', paletteStrings.compareAgents, '/playground/compare'),
    ...settingsSections.map((name) =>
      link(paletteStrings.pages, 'settings', paletteStrings.settings(name), `/settings/${name}`),
    ),
  ]
}

function actionEntries(): readonly PaletteEntry[] {
  const own: readonly PaletteEntry[] = [
    {
      icon: isDark.value ? 'sun' : 'moon',
      title: isDark.value ? frameStrings.light : frameStrings.dark,
      about: '',
      group: paletteStrings.actions,
      run: () => chooseTheme(isDark.value ? 'light' : 'dark'),
    },
    {
      icon: 'out',
      title: frameStrings.signOut,
      about: '',
      group: paletteStrings.actions,
      run: () => void confirmSignOut(),
    },
  ]
  const offered = pageActions.value.flat().map((action): PaletteEntry => ({
    ...action,
    icon: 'play',
    about: paletteStrings.onThisPage,
    group: paletteStrings.actions,
  }))
  return [...offered, ...own]
}

export async function searchHub(text: string, signal: AbortSignal): Promise<readonly PaletteEntry[]> {
  const { agents, tasks, keys } = await callAdmin('search', { query: { q: text }, signal })
  return [
    ...agents.map(({ name, kind }) =>
      link(paletteStrings.agents, 'agents', name, `/agents/${encodeURIComponent(name)}`, kind),
    ),
    ...tasks.map(({ id, agent, title }) =>
      link(paletteStrings.tasks, 'tasks', title ?? id, `/tasks/${id}`, paletteStrings.ofAgent(agent)),
    ),
    ...keys.map(({ id, name }) => link(paletteStrings.keys, 'key', name, `/settings/keys?key=${id}`)),
  ]
}

/** For other text: search the tasks for it. */
export function searchEntries(text: string): readonly PaletteEntry[] {
  if (text === '') return []
  return [
    link(
      paletteStrings.search,
      'search',
      paletteStrings.tasksThatContain(text),
      `/tasks?${new URLSearchParams({ text })}`,
    ),
  ]
}
