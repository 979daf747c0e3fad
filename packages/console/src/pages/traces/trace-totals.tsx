/** What a trace came to, in one line of numbers. */
import type { ComponentChildren } from 'preact'
import { cost, count, duration, many } from '../../parts/words.ts'
import type { Totals } from './totals.ts'

export function TraceTotals({ totals }: { readonly totals: Totals }) {
  const { durationMs, tasks, turns, errors, inputTokens, outputTokens, agents, models, tools } = totals
  return (
    <dl class="trace-totals">
      <Total name="Duration">{duration(durationMs)}</Total>
      <Total name="Agents" title={agents.join(', ')}>
        {agents.length <= 2 ? agents.join(', ') : count(agents.length)}
      </Total>
      <Total name="Tasks">
        {count(tasks)} <span class="faint">{many(turns, 'turn')}</span>
      </Total>
      {inputTokens + outputTokens > 0 && (
        <Total name="Tokens">
          {count(inputTokens)} <span class="faint">in</span> {count(outputTokens)} <span class="faint">out</span>
        </Total>
      )}
      {totals.cost !== undefined && <Total name="Cost">{cost(totals.cost)}</Total>}
      {models.length > 0 && (
        <Total name={models.length === 1 ? 'Model' : 'Models'} title={models.join(', ')}>
          {models.length <= 2 ? models.join(', ') : count(models.length)}
        </Total>
      )}
      {tools.length > 0 && (
        <Total name={tools.length === 1 ? 'Tool' : 'Tools'} title={tools.join(', ')}>
          {tools.length <= 2 ? tools.join(', ') : count(tools.length)}
        </Total>
      )}
      <Total name="Errors">{errors === 0 ? 'none' : <span class="traces-errors">✕ {count(errors)}</span>}</Total>
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
