/**
 * The findings of the health page, the worst first, each with its cause and the next step, for an operator on call. Pure: derived
 * from the hub's health report.
 */
import type { Agent, Health } from '../../../api/admin.ts'
import { formatDuration, formatCount, pluralize } from '../../../components/format.ts'
import type { StatStep } from '../../../components/stats/stat-charts.ts'

const webhooksText = (count: number) =>
  count >= 100
    ? '100 or more webhooks are undeliverable'
    : `${pluralize(count, 'webhook')} ${count === 1 ? 'is' : 'are'} undeliverable`
const states = {
  blocked: {
    title: (agent: string) => `${agent} is blocked: its card has changed`,
    next: 'Compare the cards, and approve the new one if the change is intended.',
  },
  unavailable: {
    title: (agent: string) => `${agent} failed to start`,
    next: 'Callers are refused until it has started.',
  },
  down: {
    title: (agent: string) => `${agent} is not responding`,
    next: 'Retrying automatically. Check that it is running and that its URL and credentials are correct.',
  },
  failing: {
    title: (agent: string) => `Tasks of ${agent} fail`,
    next: 'It still accepts messages. The failed tasks show why.',
  },
  slow: {
    title: (agent: string) => `${agent} is slow`,
    next: 'It accepts messages, but responds later than usual.',
  },
}

export interface Finding {
  readonly id: string
  /** `bad`: users are affected. `odd`: look at it during working hours. */
  readonly grade: 'bad' | 'odd'
  readonly title: string
  readonly why?: string | undefined
  readonly next: string
  readonly links: readonly { readonly text: string; readonly href: string }[]
}

/** The window of recent responses, and the share of errors above which a finding is `bad`. */
const recentMinutes = 5
const badShare = 0.05
const slowStoreMs = 500

type MinuteCounts = Pick<StatStep, 'requests' | 'errors'>

export function findingsOf(
  health: Health,
  agents: readonly Agent[],
  minutes: readonly MinuteCounts[],
): readonly Finding[] {
  const all = [
    ...storeFindings(health),
    ...configFindings(health),
    ...agents.flatMap(agentFindings),
    ...errorFindings(minutes),
    ...pushFindings(health),
  ]
  return [...all.filter(({ grade }) => grade === 'bad'), ...all.filter(({ grade }) => grade === 'odd')]
}

function storeFindings({ store }: Health): readonly Finding[] {
  const { name, isReady, latencyMs, trouble } = store
  if (!isReady) {
    const next = `No task can start or finish. Check that ${name} is reachable and has free space. The hub resumes automatically, and accepted tasks are kept.`
    return [{ id: 'store', grade: 'bad', title: 'The store is not responding', why: trouble, next, links: [] }]
  }
  if (latencyMs < slowStoreMs) return []
  const why = `${name} took ${formatDuration(latencyMs)} to respond.`
  return [
    {
      id: 'store',
      grade: 'odd',
      title: 'The store is slow',
      why,
      next: 'Check what else uses its disk or its database.',
      links: [],
    },
  ]
}

function configFindings({ configRejection }: Health): readonly Finding[] {
  if (configRejection === undefined) return []
  const links = [{ text: 'Open configuration', href: '/settings/config' }]
  return [
    {
      id: 'config',
      grade: 'bad',
      title: 'The configuration file is not applied',
      why: configRejection.problem,
      next: 'The hub continues with its previous configuration. Correct the file, and the hub applies it at once. Variables of ${env:…} are those that the hub was started with.',
      links,
    },
  ]
}

function agentFindings(agent: Agent): readonly Finding[] {
  const { name, status, health, drift, lastError } = agent
  const page = { text: 'Open agent', href: `/agents/${encodeURIComponent(name)}` }
  const query = new URLSearchParams({ agent: name, state: 'TASK_STATE_FAILED' })
  const failed = { text: 'Failed tasks', href: `/tasks?${query}` }
  const about = { id: `agent ${name}`, links: lastError === undefined ? [page] : [page, failed] }
  const finding = (grade: Finding['grade'], title: string, next: string, why?: string): Finding => ({
    ...about,
    grade,
    title,
    why,
    next,
  })
  const changed =
    drift === 'changed'
      ? [
          finding(
            'odd',
            `The card of ${name} has changed`,
            'Calls continue. Compare the cards, and approve the new one if the change is intended.',
          ),
        ]
      : []
  const cards = changed.map((one) => ({ ...one, id: `card ${name}` }))
  const { state, reason } = status
  if (state === 'up') return cards
  const { title, next } = states[state]
  const isPaused = state === 'down' && health.breaker === 'open'
  return [
    finding(
      state === 'slow' ? 'odd' : 'bad',
      title(name),
      isPaused ? 'No work is delegated to it for a while. It is then tried again automatically.' : next,
      reason,
    ),
    ...cards,
  ]
}

function errorFindings(minutes: readonly MinuteCounts[]): readonly Finding[] {
  const recent = minutes.slice(-recentMinutes)
  const errors = recent.reduce((sum, minute) => sum + minute.errors, 0)
  const requests = recent.reduce((sum, minute) => sum + minute.requests, 0)
  if (errors === 0) return []
  return [
    {
      id: 'errors',
      grade: errors / requests >= badShare ? 'bad' : 'odd',
      title: `${formatCount(errors)} of ${pluralize(requests, 'request')} failed in the last 5 minutes`,
      next: 'The audit log shows who was affected, and by which agent.',
      links: [
        { text: 'Open audit log', href: '/settings/audit?time=15m' },
        { text: 'Failed tasks', href: '/tasks?state=TASK_STATE_FAILED' },
      ],
    },
  ]
}

function pushFindings({ push }: Health): readonly Finding[] {
  if (push.dead === 0) return []
  return [
    {
      id: 'push',
      grade: 'odd',
      title: webhooksText(push.dead),
      next: 'Their receivers refused an event, or failed at every attempt. Fix them, then redeliver.',
      links: [{ text: 'Open webhooks', href: '/webhooks?state=dead' }],
    },
  ]
}
