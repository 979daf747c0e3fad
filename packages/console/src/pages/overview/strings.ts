/** The words of the overview. */
import { rangeNames, type StatRange } from '../../components/stats/stat-range.ts'

export const overviewStrings = {
  title: 'Overview',
  firstSteps: 'First steps',
  what: 'the statistics',
  filters: {
    label: 'Filters',
    range: 'Range',
    agent: 'Agent',
    allAgents: 'All agents',
  },
  now: {
    label: 'Now',
    agentsUp: 'agents up',
    working: 'tasks working',
    waiting: 'tasks waiting for input',
    failed: (range: StatRange) => `tasks failed in ${rangeNames[range]}`,
  },
  charts: {
    label: 'Statistics',
    hint: 'Select a point to open the tasks of that moment.',
  },
  empty: {
    title: (range: StatRange) => `No requests in ${rangeNames[range]}`,
    titleOf: (agent: string, range: StatRange) => `No requests to ${agent} in ${rangeNames[range]}`,
    hint: 'Charts appear with the first request. They are kept for 30 days.',
    longer: (range: StatRange) => `Show ${rangeNames[range]}`,
    unknown: (agent: string) => `There is no agent ${agent}`,
    allAgents: 'Show all agents',
    playground: 'Open playground',
  },
  attention: {
    title: 'Needs attention',
    none: 'All agents are up.',
    noAgents: 'No agents yet.',
    addAgent: 'Add agent',
    all: 'All agents',
  },
  failures: {
    title: 'Recent failures',
    none: (range: StatRange) => `No failed tasks in ${rangeNames[range]}.`,
    untitled: 'Task without text',
    all: 'All failed tasks',
  },
} as const
