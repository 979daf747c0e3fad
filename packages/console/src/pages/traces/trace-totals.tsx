/** The totals of a trace, in one line. */
import type { ComponentChildren } from 'preact'
import { formatCost, formatCount, formatDuration, pluralize } from '../../components/format.ts'
import type { TraceSums } from './sum-traces.ts'

export function TraceTotals({ totals }: { readonly totals: TraceSums }) {
  const { durationMs, tasks, turns, errors, inputTokens, outputTokens, agents, models, tools } = totals
  return (
    <dl class="trace-totals">
      <Total name="Duration">{formatDuration(durationMs)}</Total>
      <Total name="Agents" title={agents.join(', ')}>
        {agents.length <= 2 ? agents.join(', ') : formatCount(agents.length)}
      </Total>
      <Total name="Tasks">
        {formatCount(tasks)} <span class="faint">{pluralize(turns, 'turn')}</span>
      </Total>
      {inputTokens + outputTokens > 0 && (
        <Total name="Tokens">
          {formatCount(inputTokens)} <span class="faint">in</span> {formatCount(outputTokens)}{' '}
          <span class="faint">out</span>
        </Total>
      )}
      {totals.cost !== undefined && <Total name="Cost">{formatCost(totals.cost)}</Total>}
      {models.length > 0 && (
        <Total name={models.length === 1 ? 'Model' : 'Models'} title={models.join(', ')}>
          {models.length <= 2 ? models.join(', ') : formatCount(models.length)}
        </Total>
      )}
      {tools.length > 0 && (
        <Total name={tools.length === 1 ? 'Tool' : 'Tools'} title={tools.join(', ')}>
          {tools.length <= 2 ? tools.join(', ') : formatCount(tools.length)}
        </Total>
      )}
      <Total name="Errors">{errors === 0 ? 'none' : <span class="traces-errors">✕ {formatCount(errors)}</span>}</Total>
    </dl>
  )
}

function Total({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title?: string
  readonly children: ComponentChildren
}) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd class="cut">{children}</dd>
    </div>
  )
}
