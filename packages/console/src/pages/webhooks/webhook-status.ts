/** The status of a webhook as a shape, a word and a sentence. Pure. */
import type { Agent, PushSummary } from '../../api/admin.ts'
import { curlKeyHeader, fillMessageId, messageIdPlaceholder } from '../../components/shell/curl.ts'
import { parseOption, parseText, setFilters, urlFilters, type FiltersOf } from '../../components/filters/url-filters.ts'
import { formatCount } from '../../components/format.ts'
import type { StatusDisplay } from '../../components/status/task-state.tsx'
import { webhooksStrings } from './strings.ts'

type PushProgress = Pick<PushSummary, 'state' | 'attempt' | 'dueAt' | 'deliveredSeq' | 'head'>

export function webhookStatus({
  state,
  attempt,
  dueAt,
}: Pick<PushSummary, 'state' | 'attempt' | 'dueAt'>): StatusDisplay {
  const { status: words } = webhooksStrings
  if (state === 'dead') return { tone: 'failed', shape: '✕', word: words.dead }
  if (state === 'done') return { tone: 'done', shape: '●', word: words.done }
  if (attempt > 0) return { tone: 'waiting', shape: '◇', word: words.retrying }
  if (dueAt !== undefined) return { tone: 'working', shape: '◐', word: words.sending }
  return { tone: 'ended', shape: '○', word: words.listening }
}

/** How far the webhook was delivered. Seqs refer to the task log, of which webhooks receive only a part. */
export function deliveryProgressText({ state, dueAt, deliveredSeq, head }: PushProgress): string {
  const { progress: words } = webhooksStrings
  if (state === 'done') return words.all
  if (state === 'active' && dueAt === undefined) return words.allSoFar
  return words.some(formatCount(deliveredSeq), formatCount(head))
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
  const { explain: words } = webhooksStrings
  if (state === 'dead') return { title: words.dead(attempt), advice: words.deadAdvice, tone: 'failed' }
  if (state === 'done' || attempt === 0) return undefined
  return { title: words.retrying, advice: words.retryingAdvice, tone: 'waiting' }
}

/** What it does now, if nothing failed. */
export function statusExplanation({ state, dueAt }: Pick<PushSummary, 'state' | 'dueAt'>): string {
  const { explain: words } = webhooksStrings
  if (state === 'done') return words.done
  return dueAt === undefined ? words.listening : words.sending
}

export function isDelivered(outcome: string): boolean {
  return /^HTTP 2\d\d$/.test(outcome)
}

/** What the receiver would have to fix; `undefined` if the response explains itself. */
export function deliveryAdvice(outcome: string): string | undefined {
  const { advice: words } = webhooksStrings
  if (/^HTTP 3\d\d$/.test(outcome)) return words.redirect
  if (/^HTTP (401|403)$/.test(outcome)) return words.credentials
  if (/^HTTP (404|405)$/.test(outcome)) return words.notFound
  if (/^HTTP 4(?!08|25|29)\d\d$/.test(outcome)) return words.refused
  if (/^HTTP (429|5\d\d|408|425)$/.test(outcome)) return words.busy
  if (/^timed out$/.test(outcome)) return words.timeout
  return /^E[A-Z]+$|cannot be reached|refused/.test(outcome) ? words.unreachable : undefined
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
    parts: [{ text: webhooksStrings.empty.exampleText }],
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
