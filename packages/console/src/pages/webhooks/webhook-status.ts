/** The status of a webhook as a shape, a word and a sentence. Pure. */
import type { Agent, PushSummary } from '../../api/admin.ts'
import { curlKeyHeader, fillMessageId, messageIdPlaceholder } from '../../components/shell/curl.ts'
import { parseOption, parseText, setFilters, urlFilters, type FiltersOf } from '../../components/filters/url-filters.ts'
import { formatCount } from '../../components/format.ts'
import type { StatusDisplay } from '../../components/status/task-state.tsx'

type PushProgress = Pick<PushSummary, 'state' | 'attempt' | 'dueAt' | 'deliveredSeq' | 'head'>

export function webhookStatus({
  state,
  attempt,
  dueAt,
}: Pick<PushSummary, 'state' | 'attempt' | 'dueAt'>): StatusDisplay {
  if (state === 'dead') return { tone: 'failed', shape: '✕', word: 'given up' }
  if (state === 'done') return { tone: 'done', shape: '●', word: 'done' }
  if (attempt > 0) return { tone: 'waiting', shape: '◇', word: 'retrying' }
  if (dueAt !== undefined) return { tone: 'working', shape: '◐', word: 'sending' }
  return { tone: 'ended', shape: '○', word: 'listening' }
}

/** How far the webhook was delivered. Seqs refer to the task log, of which webhooks receive only a part. */
export function deliveryProgressText({ state, dueAt, deliveredSeq, head }: PushProgress): string {
  if (state === 'done') return 'everything'
  if (state === 'active' && dueAt === undefined) return 'everything so far'
  return deliveredSeq === 0 ? `nothing of ${formatCount(head)}` : `${formatCount(deliveredSeq)} of ${formatCount(head)}`
}

export function statusExplanation({ state, attempt, dueAt, deliveredSeq }: PushProgress): string {
  if (state === 'dead') {
    const tries = attempt === 1 ? 'one try' : `${attempt} tries`
    const place = deliveredSeq === 0 ? 'before the first event' : `after event ${deliveredSeq}`
    return `Given up after ${tries}. It rests ${place}: nothing is lost, and nothing more is sent until you redeliver.`
  }
  if (state === 'done') return 'The task has ended, and the webhook received all of it.'
  if (attempt > 0) return 'The last try failed. What comes later waits behind it, so that events arrive in order.'
  return dueAt === undefined ? 'It waits for what happens next.' : 'It is being delivered now.'
}

export function isDelivered(outcome: string): boolean {
  return /^HTTP 2\d\d$/.test(outcome)
}

/** What the receiver would have to fix; `undefined` if the response explains itself. */
export function deliveryAdvice(outcome: string): string | undefined {
  if (/^HTTP 3\d\d$/.test(outcome))
    return 'It answered with a redirect. Redirects are never followed: register the final address.'
  if (/^HTTP (401|403)$/.test(outcome))
    return 'It refused the credentials. Let the client register the webhook again with the right ones.'
  if (/^HTTP (404|405)$/.test(outcome)) return 'There is nothing at this address that takes a POST.'
  if (/^HTTP 4(?!08|25|29)\d\d$/.test(outcome)) return 'It refused the event. Another try would be answered alike.'
  if (/^HTTP (429|5\d\d|408|425)$/.test(outcome))
    return 'It is busy or broken. It is tried again by itself, ever less often.'
  if (outcome === 'timed out') return 'It did not answer in time.'
  return undefined
}

/** Splits a URL into the host, which identifies the receiver, and the rest. */
export function splitWebhookUrl(url: string): { readonly host: string; readonly rest: string } {
  if (!URL.canParse(url)) return { host: url, rest: '' }
  const { host, pathname, search } = new URL(url)
  return { host, rest: pathname === '/' && search === '' ? '' : readableUrl(pathname + search) }
}

/** The hub puts an ellipsis where a secret may be. */
export function readableUrl(url: string): string {
  return url.replaceAll('%E2%80%A6', '…')
}

const pushStates = ['active', 'dead', 'done'] as const

export const webhookFilters = urlFilters({
  state: parseOption(pushStates.map((state) => [state] as const)),
  agent: String,
  text: parseText,
})
export type WebhookFilters = FiltersOf<typeof webhookFilters>

export function webhookHref({ taskId, configId }: Pick<PushSummary, 'taskId' | 'configId'>, filters: string): string {
  return `/webhooks/${encodeURIComponent(taskId)}/${encodeURIComponent(configId)}${filters}`
}

/** `?state=dead`, or empty. */
export function webhookFilterSearch(filters: WebhookFilters): string {
  const query = new URLSearchParams(setFilters(filters))
  return query.size === 0 ? '' : `?${query}`
}

/** A curl command that sends a message with a webhook. */
export function webhookCurl(origin: string, agent: Pick<Agent, 'name' | 'isOpen'>): string {
  const message = { messageId: messageIdPlaceholder, role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const configuration = { taskPushNotificationConfig: { url: 'https://example.com/webhook' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
  return [
    `curl ${origin}/a2a/${encodeURIComponent(agent.name)}`,
    `  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'`,
    ...curlKeyHeader(agent).map((header) => `  ${header}`),
    `  -d '${fillMessageId(JSON.stringify(body))}'`,
  ].join(' \\\n')
}
