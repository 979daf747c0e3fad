/** The pages as people know them: by name, and by the key that goes there. */
import type { IconName } from '../parts/icon.tsx'
import type { PageName } from './address.ts'

export interface PageEntry {
  readonly page: PageName
  readonly title: string
  readonly icon: IconName
  /** After `g`. */
  readonly key: string
  /** Less often wanted: on a phone, behind "More". */
  readonly isLess?: boolean
}

/** As the rail lists them. */
export const pages: readonly PageEntry[] = [
  { page: 'agents', title: 'Agents', icon: 'agents', key: 'a' },
  { page: 'playground', title: 'Playground', icon: 'playground', key: 'p' },
  { page: 'tasks', title: 'Tasks', icon: 'tasks', key: 't' },
  { page: 'traces', title: 'Traces', icon: 'traces', key: 'c' },
  { page: 'push', title: 'Push', icon: 'push', key: 'u', isLess: true },
  { page: 'routes', title: 'Routes', icon: 'routes', key: 'r', isLess: true },
  { page: 'settings', title: 'Settings', icon: 'settings', key: 's', isLess: true },
]

export const firstSteps: PageEntry = { page: 'welcome', title: 'First steps', icon: 'play', key: 'w' }
