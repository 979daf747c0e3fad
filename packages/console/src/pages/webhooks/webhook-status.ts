/** The status of a webhook as a shape, a word and a sentence. Pure. */
import type { Agent, PushSummary } from '../../api/admin.ts'
import { curlKeyHeader, fillMessageId, messageIdPlaceholder } from '../../components/shell/curl.ts'
import { parseOption, parseText, setFilters, urlFilters, type FiltersOf } from '../../components/filters/url-filters.ts'
import { formatCount, pluralize } from '../../components/format.ts'
import type { StatusDisplay } from '../../components/status/task-state.tsx'

type PushProgress = Pick<PushSummary, 'state' | 'attempt' | 'dueAt' | 'deliveredSeq' | 'head'>

export function webhookStatus({
  state,
  attempt,
  dueAt,
}: Pick<PushSummary, 'state' | 'attempt' | 'dueAt'>): StatusDisplay {
  if (state === 'dead') return { tone: 'failed', shape: '✕', word: 'Undeliverable' }
  if (state === 'done') return { tone: 'done', shape: '●', word: 'Delivered' }
  if (attempt > 0) return { tone: 'waiting', shape: '◇', word: 'Retrying' }
  if (dueAt !== undefined) return { tone: 'working', shape: '◐', word: 'Sending' }
  return { tone: 'ended', shape: '○', word: 'Waiting for events' }
}

/** How far the webhook was delivered. Seqs refer to the task log, of which webhooks receive only a part. */
export function deliveryProgressText({ state, dueAt, deliveredSeq, head }: PushProgress): string {
  if (state === 'done') return 'All events'
  if (state === 'active' && dueAt === undefined) return 'All events so far'
  return `Delivered ${formatCount(deliveredSeq)} of ${formatCount(head)}`
}

export interface DeliveryFailure {
  readonly title: string
  readonly advice: string
  readonly tone: 'failed' | 'waiting'
}

/** Why the webhook does not get on; `undefined` if it does. */
export function deliveryFailure({
  state,
  attempt,
}: Pick<PushSummary, 'state' | 'attempt'>): DeliveryFailure | undefined {
  if (state === 'dead')
    return {
      title: `Delivery failed after ${pluralize(attempt, 'attempt')}`,
      advice: 'Events are queued; redeliver to resume.',
      tone: 'failed',
    }
  if (state === 'done' || attempt === 0) return undefined
  return {
    title: 'The last attempt failed',
    advice: 'Retrying automatically. Later events are queued behind this one, so that they arrive in order.',
    tone: 'waiting',
  }
}

/** What it does now, if nothing failed. */
export function statusExplanation({ state, dueAt }: Pick<PushSummary, 'state' | 'dueAt'>): string {
  if (state === 'done') return 'The task has ended, and all its events were delivered.'
  return dueAt === undefined ? 'All events were delivered. The next one is sent when it happens.' : 'Delivering now.'
}

export function isDelivered(outcome: string): boolean {
  return /^HTTP 2\d\d$/.test(outcome)
}

/** What the receiver would have to fix; `undefined` if the response explains itself. */
export function deliveryAdvice(outcome: string): string | undefined {
  if (/^HTTP 3\d\d$/.test(outcome))
    return 'The receiver answered with a redirect, and the hub follows none. Register the final URL.'
  if (/^HTTP (401|403)$/.test(outcome))
    return 'The receiver rejected the credentials. Register the webhook again with valid ones.'
  if (/^HTTP (404|405)$/.test(outcome)) return 'The URL does not accept POST requests. Check the URL.'
  if (/^HTTP 4(?!08|25|29)\d\d$/.test(outcome))
    return 'The receiver rejected the event, so another attempt would fail too. Check its log.'
  if (/^HTTP (429|5\d\d|408|425)$/.test(outcome)) return 'The receiver is overloaded or down.'
  if (/^timed out$/.test(outcome)) return 'The receiver did not answer in time.'
  return /^E[A-Z]+$|cannot be reached|refused/.test(outcome)
    ? 'The receiver cannot be reached. Check that it is running and that its URL is correct.'
    : undefined
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
  const message = {
    messageId: messageIdPlaceholder,
    role: 'ROLE_USER',
    parts: [{ text: 'Hello' }],
  }
  const configuration = { taskPushNotificationConfig: { url: 'https://example.com/webhook' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
  return [
    `curl ${origin}/a2a/${encodeURIComponent(agent.name)}`,
    `  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'`,
    ...curlKeyHeader(agent).map((header) => `  ${header}`),
    `  -d '${fillMessageId(JSON.stringify(body))}'`,
  ].join(' \\\n')
}
