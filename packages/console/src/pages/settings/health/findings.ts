/**
 * The findings of the health page, the worst first, each with its cause and the next step, for an operator on call. Pure: derived
 * from the hub's health report.
 */
import type { Agent, Health } from '../../../api/admin.ts'
import { formatDuration } from '../../../components/format.ts'
import type { StatStep } from '../../../components/stats/stat-charts.ts'
import { healthStrings } from './strings.ts'

const strings = healthStrings.findings

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
    const next = strings.storeDownNext(name)
    return [{ id: 'store', grade: 'bad', title: strings.storeDown, why: trouble, next, links: [] }]
  }
  if (latencyMs < slowStoreMs) return []
  const why = strings.storeSlowWhy(name, formatDuration(latencyMs))
  return [{ id: 'store', grade: 'odd', title: strings.storeSlow, why, next: strings.storeSlowNext, links: [] }]
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
  const page = { text: strings.openAgent, href: `/agents/${encodeURIComponent(name)}` }
  const query = new URLSearchParams({ agent: name, state: 'TASK_STATE_FAILED' })
  const failed = { text: strings.failedTasks, href: `/tasks?${query}` }
  const about = { id: `agent ${name}`, links: lastError === undefined ? [page] : [page, failed] }
  const finding = (grade: Finding['grade'], title: string, next: string, why?: string): Finding => ({
    ...about,
    grade,
    title,
    why,
    next,
  })
  const changed = drift === 'changed' ? [finding('odd', strings.cardChanged(name), strings.cardChangedNext)] : []
  const cards = changed.map((one) => ({ ...one, id: `card ${name}` }))
  const { state, reason } = status
  if (state === 'up') return cards
  const { title, next } = strings.states[state]
  const isPaused = state === 'down' && health.breaker === 'open'
  return [
    finding(state === 'slow' ? 'odd' : 'bad', title(name), isPaused ? strings.pausedNext : next, reason),
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
      title: strings.errors(errors, requests),
      next: strings.errorsNext,
      links: [
        { text: strings.openAudit, href: '/settings/audit?time=15m' },
        { text: strings.failedTasks, href: '/tasks?state=TASK_STATE_FAILED' },
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
      title: strings.webhooks(push.dead),
      next: strings.webhooksNext,
      links: [{ text: strings.openWebhooks, href: '/webhooks?state=dead' }],
    },
  ]
}
