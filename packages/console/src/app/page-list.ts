/** The pages, with their titles and shortcuts. */
import type { IconName } from '../components/icon.tsx'
import type { PageName } from './page-route.ts'

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
  { page: 'overview', title: 'Overview', icon: 'overview', key: 'o' },
  { page: 'agents', title: 'Agents', icon: 'agents', key: 'a' },
  { page: 'playground', title: 'Playground', icon: 'playground', key: 'p' },
  { page: 'tasks', title: 'Tasks', icon: 'tasks', key: 't' },
  { page: 'traces', title: 'Traces', icon: 'traces', key: 'c', isSecondary: true },
  { page: 'webhooks', title: 'Webhooks', icon: 'webhooks', key: 'u', isSecondary: true },
  { page: 'settings', title: 'Settings', icon: 'settings', key: 's', isSecondary: true },
]

export const welcomePage: PageEntry = { page: 'welcome', title: 'First steps', icon: 'play', key: 'w' }
