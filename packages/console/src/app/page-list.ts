/** The pages, with their titles and shortcuts. */
import type { IconName } from '../components/icon.tsx'
import type { PageName } from './page-route.ts'
import { appPageStrings } from './page-strings.ts'

const { titles } = appPageStrings

export interface PageEntry {
  readonly page: PageName
  readonly title: string
  readonly icon: IconName
  /** The key after `g`. */
  readonly key: string
  /** Less used; on a phone, behind "More". */
  readonly isSecondary?: boolean
}

/** In the order of the rail. */
export const pages: readonly PageEntry[] = [
  { page: 'overview', title: titles.overview, icon: 'overview', key: 'o' },
  { page: 'agents', title: titles.agents, icon: 'agents', key: 'a' },
  { page: 'playground', title: titles.playground, icon: 'playground', key: 'p' },
  { page: 'tasks', title: titles.tasks, icon: 'tasks', key: 't' },
  { page: 'traces', title: titles.traces, icon: 'traces', key: 'c', isSecondary: true },
  { page: 'webhooks', title: titles.webhooks, icon: 'webhooks', key: 'u', isSecondary: true },
  { page: 'settings', title: titles.settings, icon: 'settings', key: 's', isSecondary: true },
]

export const welcomePage: PageEntry = { page: 'welcome', title: titles.welcome, icon: 'play', key: 'w' }
