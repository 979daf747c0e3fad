/** One webhook of the list: how it stands, where it is, what for, how far it was told, what it answered, when it is tried next. */
import type { PushSummary } from '../../api/admin.ts'
import { now } from '../../api/resource.ts'
import { Mark } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration, many } from '../../parts/words.ts'
import { isWell, placeOf, pushLook, toldWords } from './push-words.ts'

export interface PushRowProps {
  readonly push: PushSummary
  readonly index: number
  readonly href: string
  readonly isSelected: boolean
}

export function PushRow({ push, index, href, isSelected }: PushRowProps) {
  const { url, agent, title, attempt, last, createdAt, dueAt, state } = push
  const { host, rest } = placeOf(url)
  return (
    <a
      class="listing-line listing-row push-line"
      href={href}
      data-row={index}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="push-state">
        <Mark {...pushLook(push)} />
      </span>
      <span class="push-what">
        <span class="cut" title={url}>
          {host}
          <span class="faint">{rest}</span>
        </span>
        <span class="cut faint">
          {agent}
          {title !== undefined && `: ${title}`}
        </span>
      </span>
      <span class="push-wide cut">{toldWords(push)}</span>
      <span class="push-wide push-answer">
        {last === undefined ? <span class="faint">none yet</span> : <Answer outcome={last.outcome} />}
        {last !== undefined && (
          <span class="faint">
            {duration(last.durationMs)}, <Ago at={last.at} />
          </span>
        )}
      </span>
      <span class="push-wide push-next">
        {state === 'active' && dueAt !== undefined ? <Due at={dueAt} /> : <span class="faint">–</span>}
        {attempt > 0 && <span class="faint">{many(attempt, 'try', 'tries')} so far</span>}
      </span>
      <span class="push-number push-made">{createdAt !== undefined && <Ago at={createdAt} />}</span>
    </a>
  )
}

export function Answer({ outcome }: { readonly outcome: string }) {
  return <span class={isWell(outcome) ? 'cut push-well' : 'cut push-ill'}>{outcome}</span>
}

/** Counts down. What is due is being sent. */
export function Due({ at }: { readonly at: string }) {
  const left = Date.parse(at) - now.value
  return <time dateTime={at}>{left <= 0 ? 'now' : `in ${duration(Math.ceil(left / 1_000) * 1_000)}`}</time>
}
