/** One trace of the list: message, agent, status, duration relative to the others, and usage. */
import type { Trace } from '../../api/admin.ts'
import { taskStateDisplay, TaskStateBadge } from '../../components/status/task-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { currentTaskTimes, TaskDuration } from '../../components/status/task-time.tsx'
import { formatCost, formatCompact, pluralize } from '../../components/format.ts'
import { barShare, timedTrace } from './sum-traces.ts'

export interface TraceRowProps {
  readonly trace: Trace
  readonly href: string
  /** The longest duration in the list, which scales the bars. */
  readonly longestMs: number
  readonly isSelected: boolean
}

export function TraceRow({ trace, href, longestMs, isSelected }: TraceRowProps) {
  const { title, agent, agents, cause, tasks, errors, inputTokens, outputTokens, state, startedAt } = trace
  const ms = currentTaskTimes(timedTrace(trace)).workingMs
  const tokens = inputTokens + outputTokens
  const others = agents.filter((one) => one !== agent)
  return (
    <a
      class="list-row listing-line listing-row traces-line"
      href={href}
      data-row={trace.taskId}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="traces-state">
        <TaskStateBadge state={state} />
      </span>
      <span class="traces-request">
        <span class={title === undefined ? 'cut faint' : 'cut'} dir="auto">
          {title ?? 'No text'}
        </span>
        {cause === undefined ? (
          <span class="cut faint">{agent}</span>
        ) : (
          <span class="cut traces-errors" title={cause}>
            {agent}: {cause}
          </span>
        )}
      </span>
      <span class="traces-duration">
        <TaskDuration task={timedTrace(trace)} />
        <span class="traces-track" aria-hidden="true">
          <i class={taskStateDisplay(state).tone} style={{ width: `${barShare(ms, longestMs) * 100}%` }} />
        </span>
      </span>
      <span class="traces-wide cut" title={agents.join(', ')}>
        {pluralize(tasks, 'task')}
        {others.length > 0 && <span class="faint"> · {others.join(', ')}</span>}
      </span>
      <span class="traces-wide number" title={`${inputTokens} in, ${outputTokens} out`}>
        {tokens === 0 ? <Dash what="no tokens" /> : formatCompact(tokens)}
      </span>
      <span class="traces-wide number">
        {trace.cost === undefined ? <Dash what="no cost" /> : formatCost(trace.cost)}
      </span>
      <span class="traces-wide number">
        {errors === 0 ? <Dash what="no errors" /> : <span class="traces-errors">✕ {errors}</span>}
      </span>
      <span class="number traces-when">
        <RelativeTime at={startedAt} />
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
