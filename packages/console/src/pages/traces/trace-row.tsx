/** One trace of the list: what was asked of whom, how it went, how long it took among the others, and what it used. */
import type { Trace } from '../../api/admin.ts'
import { now } from '../../api/resource.ts'
import { lookOf, State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { cost, duration, many, short } from '../../parts/words.ts'
import { barShare, lengthOf } from './totals.ts'

export interface TraceRowProps {
  readonly trace: Trace
  readonly index: number
  readonly href: string
  /** Of all that are listed: bars are drawn by it. */
  readonly longestMs: number
  readonly isSelected: boolean
}

export function TraceRow({ trace, index, href, longestMs, isSelected }: TraceRowProps) {
  const { title, agent, agents, tasks, errors, inputTokens, outputTokens, state, startedAt, endedAt } = trace
  const ms = lengthOf(trace, endedAt === undefined ? now.value : 0)
  const tokens = inputTokens + outputTokens
  const others = agents.filter((one) => one !== agent)
  return (
    <a
      class="listing-line listing-row traces-line"
      href={href}
      data-row={index}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="traces-state">
        <State state={state} />
      </span>
      <span class="traces-request">
        <span class={title === undefined ? 'cut faint' : 'cut'} dir="auto">
          {title ?? 'no text'}
        </span>
        <span class="cut faint">{agent}</span>
      </span>
      <span class="traces-duration">
        <span>{duration(ms)}</span>
        <span class="traces-track" aria-hidden="true">
          <i class={lookOf(state).tone} style={{ width: `${barShare(ms, longestMs) * 100}%` }} />
        </span>
      </span>
      <span class="traces-wide cut" title={agents.join(', ')}>
        {many(tasks, 'task')}
        {others.length > 0 && <span class="faint"> · {others.join(', ')}</span>}
      </span>
      <span class="traces-wide traces-number" title={`${inputTokens} in, ${outputTokens} out`}>
        {tokens === 0 ? <Dash what="no tokens" /> : short(tokens)}
      </span>
      <span class="traces-wide traces-number">
        {trace.cost === undefined ? <Dash what="no cost" /> : cost(trace.cost)}
      </span>
      <span class="traces-wide traces-number">
        {errors === 0 ? <Dash what="no errors" /> : <span class="traces-errors">✕ {errors}</span>}
      </span>
      <span class="traces-number traces-when">
        <Ago at={startedAt} />
        {errors > 0 && <span class="traces-errors traces-narrow">✕ {errors}</span>}
      </span>
    </a>
  )
}

function Dash({ what }: { readonly what: string }) {
  return (
    <span class="faint">
      <span aria-hidden="true">–</span>
      <span class="unseen">{what}</span>
    </span>
  )
}
