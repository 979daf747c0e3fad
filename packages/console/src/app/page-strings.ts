/** The words of pages in general, and of the rail. */
import { formatCount } from '../components/format.ts'

export const appPageStrings = {
  titles: {
    overview: 'Overview',
    agents: 'Agents',
    playground: 'Playground',
    tasks: 'Tasks',
    traces: 'Traces',
    webhooks: 'Webhooks',
    settings: 'Settings',
    welcome: 'First steps',
  },
  page: 'the page',
  notFound: 'Page not found',
  nothingAt: (path: string) => `Nothing is at ${path}`,
  openOverview: 'Open overview',
  updated: 'This page could not be loaded',
  updatedAdvice: 'The hub may have been updated while the console was open. Reload it to use the new version.',
  reload: 'Reload',
  rail: {
    label: 'Pages',
    name: 'Parley',
    more: 'More',
    goTo: 'Go to',
    hasIssues: 'has issues',
    agentIssues: (count: number) => `${formatCount(count)} with issues`,
    undeliverable: (count: number) => `${formatCount(count)} undeliverable`,
  },
} as const
