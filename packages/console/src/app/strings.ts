/** The words of the frame around every page: header, search, shortcuts and sign-out. */
import { pluralize } from '../components/format.ts'

export const frameStrings = {
  product: 'Parley',
  skip: 'Skip to content',
  search: 'Search or go to…',
  light: 'Light theme',
  dark: 'Dark theme',
  signOut: 'Sign out',
  signOutSubject: (subject: string) => `Sign out ${subject}`,
  signOutQuestion: 'Sign out?',
  connecting: 'Connecting…',
  live: 'Live',
  disconnected: 'Disconnected, reconnecting…',
  liveTitle: (version: string) => `Connected to hub ${version}. Changes appear immediately.`,
  disconnectedTitle: 'The hub does not respond. The page reconnects automatically.',
} as const

export const paletteStrings = {
  title: 'Search',
  shortcut: 'Search or go to anything',
  placeholder: 'Agent, task ID, page or action',
  results: 'Results',
  count: (count: number) => pluralize(count, 'result'),
  choose: 'choose',
  open: 'open',
  close: 'close',
  enterKey: 'Enter',
  escapeKey: 'Esc',
  searching: 'Searching…',
  recent: 'Recent',
  pages: 'Pages',
  actions: 'Actions',
  agents: 'Agents',
  tasks: 'Tasks',
  keys: 'Keys',
  search: 'Search',
  compareAgents: 'Compare agents',
  settings: (section: string) => `Settings: ${section}`,
  onThisPage: 'on this page',
  ofAgent: (agent: string) => `by ${agent}`,
  tasksThatContain: (text: string) => `Tasks that contain “${text}”`,
} as const

export const shortcutStrings = {
  title: 'Keyboard shortcuts',
  show: 'Show keyboard shortcuts',
  close: 'Close',
  onThisPage: 'On this page',
  everywhere: 'Everywhere',
  goTo: 'Go to',
  escapeKey: 'Esc',
  controlKey: 'Ctrl',
  escape: 'Close what is open',
} as const
