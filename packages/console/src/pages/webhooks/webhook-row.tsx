/** One webhook of the list: status, URL, task, progress, last response and next attempt. */
import type { PushSummary } from '../../api/admin.ts'
import { now } from '../../api/resource.ts'
import { StatusBadge } from '../../components/status/task-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatDuration, pluralize } from '../../components/format.ts'
import { isDelivered, splitWebhookUrl, webhookStatus, deliveryProgressText } from './webhook-status.ts'

export interface WebhookRowProps {
  readonly push: PushSummary
  readonly id: string
  readonly href: string
  readonly isSelected: boolean
}

export function WebhookRow({ push, id, href, isSelected }: WebhookRowProps) {
  const { url, agent, title, attempt, last, createdAt, dueAt, state } = push
  const { host, rest } = splitWebhookUrl(url)
  return (
    <a
      class="list-row listing-line listing-row webhook-line"
      href={href}
      data-row={id}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="webhook-state">
        <StatusBadge {...webhookStatus(push)} />
      </span>
      <span class="webhook-what">
        <span class="cut" title={url}>
          {host}
          <span class="faint">{rest}</span>
        </span>
        <span class="cut faint">
          {agent}
          {title !== undefined && `: ${title}`}
        </span>
      </span>
      <span class="webhook-wide cut">{deliveryProgressText(push)}</span>
      <span class="webhook-wide webhook-answer">
        {last === undefined ? <span class="faint">None yet</span> : <DeliveryOutcome outcome={last.outcome} />}
        {last !== undefined && (
          <span class="faint">
            {formatDuration(last.durationMs)}, <RelativeTime at={last.at} />
          </span>
        )}
      </span>
      <span class="webhook-wide webhook-next">
        {state === 'active' && dueAt !== undefined ? <DueTime at={dueAt} /> : <span class="faint">–</span>}
        {attempt > 0 && <span class="faint">{pluralize(attempt, 'failed attempt')}</span>}
      </span>
      <span class="number webhook-made">{createdAt !== undefined && <RelativeTime at={createdAt} />}</span>
    </a>
  )
}

export function DeliveryOutcome({ outcome }: { readonly outcome: string }) {
  return <span class={isDelivered(outcome) ? 'cut webhook-outcome done' : 'cut webhook-outcome failed'}>{outcome}</span>
}

/** Counts down. A due delivery is being sent. */
export function DueTime({ at }: { readonly at: string }) {
  const left = Date.parse(at) - now.value
  return <time dateTime={at}>{left <= 0 ? 'now' : `in ${formatDuration(Math.ceil(left / 1_000) * 1_000)}`}</time>
}
