/**
 * The findings of the health page, the worst first, each with its cause and the next step, for an operator on call. Pure: derived
 * from the hub's health report.
 */
import type { Agent, Health } from '../../../api/admin.ts'
import { formatCount, formatDuration, pluralize } from '../../../components/format.ts'
import type { MinuteStats } from './recent-stats.ts'

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

export function findingsOf(
  health: Health,
  agents: readonly Agent[],
  minutes: readonly MinuteStats[],
): readonly Finding[] {
  const all = [
    ...storeFindings(health),
    ...agents.flatMap(agentFindings),
    ...errorFindings(minutes),
    ...pushFindings(health),
  ]
  return [...all.filter(({ grade }) => grade === 'bad'), ...all.filter(({ grade }) => grade === 'odd')]
}

function storeFindings({ store }: Health): readonly Finding[] {
  const { name, isReady, latencyMs, trouble } = store
  if (!isReady) {
    return [
      {
        id: 'store',
        grade: 'bad',
        title: 'The store does not answer',
        why: trouble,
        next: `No task can start or finish. Check that ${name} is reachable and has free space. The hub resumes automatically, and accepted tasks are kept.`,
        links: [],
      },
    ]
  }
  if (latencyMs < slowStoreMs) return []
  return [
    {
      id: 'store',
      grade: 'odd',
      title: 'The store is slow',
      why: `${name} took ${formatDuration(latencyMs)} to answer.`,
      next: 'Look at what else uses its disk or its database.',
      links: [],
    },
  ]
}

function agentFindings(agent: Agent): readonly Finding[] {
  const { name, state, startError, health, drift, lastError } = agent
  const page = { text: 'Look at the agent', href: `/agents/${encodeURIComponent(name)}` }
  const query = new URLSearchParams({ agent: name, state: 'TASK_STATE_FAILED' })
  const failed = { text: 'Its failed tasks', href: `/tasks?${query}` }
  const about = { id: `agent ${name}`, links: lastError === undefined ? [page] : [page, failed] }
  const finding = (grade: Finding['grade'], title: string, next: string, why?: string): Finding => ({
    ...about,
    grade,
    title,
    why,
    next,
  })
  if (drift === 'blocked') {
    const next = 'Compare the cards, and approve the new one if it is meant.'
    return [finding('bad', `${name} is not called: its card has changed`, next)]
  }
  if (state !== 'open')
    return [finding('bad', `${name} is not open`, 'Callers are refused until it is.', startError?.message)]
  if (health.state === 'down') {
    const next =
      health.breaker === 'open'
        ? 'Nothing is handed on to it for a while; then it is tried again by itself.'
        : 'It is asked again by itself. See that it runs, and that its address and its credentials are right.'
    return [finding('bad', `${name} does not answer`, next, health.why ?? lastError?.text)]
  }
  const slow = 'Messages are taken, but their answers take longer than usual.'
  const changed = 'Calls continue. Compare the cards, and approve the new one if the change is intended.'
  return [
    ...(health.state === 'slow' ? [finding('odd', `${name} is slow`, slow, health.why)] : []),
    ...(drift === 'changed'
      ? [{ ...finding('odd', `The card of ${name} has changed`, changed), id: `card ${name}` }]
      : []),
  ]
}

function errorFindings(minutes: readonly MinuteStats[]): readonly Finding[] {
  const recent = minutes.slice(-recentMinutes)
  const errors = recent.reduce((sum, minute) => sum + minute.errors, 0)
  const requests = recent.reduce((sum, minute) => sum + minute.requests, 0)
  if (errors === 0) return []
  return [
    {
      id: 'errors',
      grade: errors / requests >= badShare ? 'bad' : 'odd',
      title: `${formatCount(errors)} of ${pluralize(requests, 'answer')} in the last five minutes ${errors === 1 ? 'was an error' : 'were errors'}`,
      next: 'The audit says who got them, and from which agent.',
      links: [
        { text: 'Look into the audit', href: '/settings/audit?time=15m' },
        { text: 'Failed tasks', href: '/tasks?state=TASK_STATE_FAILED' },
      ],
    },
  ]
}

function pushFindings({ push }: Health): readonly Finding[] {
  if (push.dead === 0) return []
  const number = push.dead >= 100 ? '100 or more webhooks' : pluralize(push.dead, 'webhook')
  return [
    {
      id: 'push',
      grade: 'odd',
      title: `${number} ${push.dead === 1 ? 'was' : 'were'} given up`,
      next: 'Their receivers did not take them for too long. Redeliver them when they do again.',
      links: [{ text: 'Look at them', href: '/webhooks?state=dead' }],
    },
  ]
}
