/** What the search finds: places one was, pages, what the page offers, and what the hub knows of that name. */
import { signal } from '@preact/signals'
import { call } from '../api/call.ts'
import type { IconName } from '../parts/icon.tsx'
import { leave } from './leave.ts'
import { pageActions } from './palette-state.ts'
import type { PaletteAction } from './palette-state.ts'
import { firstSteps, pages } from './pages.ts'
import { thingAt, withRecent } from './recent.ts'
import type { Recent } from './recent.ts'
import { go, path } from './router.ts'
import { chooseTheme, isDark } from './theme.ts'

export interface Entry extends PaletteAction {
  readonly icon: IconName
  readonly about: string
  readonly group: string
  /** Keys that do the same. */
  readonly keys?: string
}

const recent = signal<readonly Recent[]>([])

/** Told when one leaves a place, because only then is it known by its name. */
export function noteWhereWeWere(at: { page: string | undefined; rest: readonly string[] }, title: string): void {
  const thing = thingAt(at.page, at.rest, title)
  if (thing !== undefined) recent.value = withRecent(recent.peek(), thing)
}

export function ownEntries(text: string): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/)
  const isWanted = ({ title }: Entry): boolean => words.every((word) => title.toLowerCase().includes(word))
  return [...recentEntries(), ...pageEntries(), ...actionEntries()].filter(isWanted)
}

function recentEntries(): readonly Entry[] {
  return recent.value
    .filter(({ path: to }) => !path.value.startsWith(to))
    .map(({ path: to, title, about }) => ({
      icon: about === 'agent' ? 'agents' : about === 'task' ? 'tasks' : 'traces',
      title,
      about,
      group: 'Recent',
      run: () => go(to),
    }))
}

const sections = ['health', 'config', 'keys', 'audit', 'about']

function pageEntries(): readonly Entry[] {
  return [
    ...[...pages, firstSteps].map(({ page, title, icon, key }): Entry => ({
      icon,
      title,
      about: '',
      keys: `g ${key}`,
      group: 'Pages',
      run: () => go(`/${page}`),
    })),
    ...sections.map((name): Entry => ({
      icon: 'settings',
      title: `Settings: ${name}`,
      about: '',
      group: 'Pages',
      run: () => go(`/settings/${name}`),
    })),
  ]
}

function actionEntries(): readonly Entry[] {
  const own: readonly Entry[] = [
    {
      icon: isDark.value ? 'sun' : 'moon',
      title: isDark.value ? 'Light colours' : 'Dark colours',
      about: '',
      group: 'Actions',
      run: () => chooseTheme(isDark.value ? 'light' : 'dark'),
    },
    { icon: 'out', title: 'Sign out', about: '', group: 'Actions', run: () => void leave() },
  ]
  const offered = pageActions.value
    .flat()
    .map((action): Entry => ({ ...action, icon: 'play', about: 'on this page', group: 'Actions' }))
  return [...offered, ...own]
}

export async function lookUp(text: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const { agents, tasks, keys } = await call('search', { query: { q: text }, signal })
  return [
    ...agents.map(({ name, kind }): Entry => ({
      icon: 'agents',
      title: name,
      about: kind,
      group: 'Agents',
      run: () => go(`/agents/${encodeURIComponent(name)}`),
    })),
    ...tasks.map(({ id, agent, title }): Entry => ({
      icon: 'tasks',
      title: title ?? id,
      about: `of ${agent}`,
      group: 'Tasks',
      run: () => go(`/tasks/${id}`),
    })),
    ...keys.map(({ id, name }): Entry => ({
      icon: 'key',
      title: name,
      about: '',
      group: 'Keys',
      run: () => go(`/settings/keys?key=${id}`),
    })),
  ]
}

/** For what has no name: tasks in which it was said. */
export function searchEntries(text: string): readonly Entry[] {
  if (text === '') return []
  return [
    {
      icon: 'search',
      title: `Tasks that say “${text}”`,
      about: '',
      group: 'Search',
      run: () => go(`/tasks?${new URLSearchParams({ text })}`),
    },
  ]
}
