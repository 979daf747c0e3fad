/** The words of the first steps. */
import { formatDuration, pluralize } from '../../components/format.ts'

export const welcomeStrings = {
  title: 'Welcome to Parley',
  skip: 'Skip first steps',
  openOverview: 'Open overview',
  what: 'the agents and tasks',
  lead: (agents: number) =>
    agents === 0
      ? 'Your hub is running. It has no agents yet. Three steps take about a minute.'
      : `Your hub is running. Any A2A client can call ${agents === 1 ? 'its agent' : `its ${agents} agents`}, whatever its version. Three steps take about a minute.`,
  done: '(done)',
  end: 'All steps are done. The overview shows requests, errors and cost as they happen.',
  meet: {
    title: 'Meet the agents',
    none: 'No agents yet. The last step adds one.',
    all: (count: number) => `All ${pluralize(count, 'agent')}`,
    description: (kind: string) => `${kind} agent`,
    isDefault: ' · default',
    open: 'Try it',
  },
  message: {
    title: 'Send a first message',
    agent: 'Agent',
    message: 'Message',
    example: 'Hello',
    send: 'Send',
    you: 'You',
    replied: (agent: string, text: string) => `${agent} replied: ${text}`,
    inLog: (durationMs: number | undefined) =>
      durationMs === undefined
        ? 'Your task is in the log.'
        : `Your task is in the log, finished in ${formatDuration(durationMs)}.`,
    events: 'Show all events',
    playground: 'Continue in the playground',
    unreadable: 'The response of the agent could not be read.',
    refused: 'The agent refused the message.',
  },
  own: {
    title: 'Add your own agent',
    has: (count: number) => `You have added ${pluralize(count, 'agent')}. Add the next one here.`,
    terminal: 'Or from a terminal:',
    added: 'added',
    open: 'Try it',
    another: 'Add another agent',
  },
} as const
