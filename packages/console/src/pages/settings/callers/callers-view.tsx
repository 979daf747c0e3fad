/** What each caller did: calls, errors, refused requests, tokens and cost, by the names of its keys. */
import type { CallerUsage } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { useVisibleInterval } from '../../../api/use-visible-interval.ts'
import { query, setQuery } from '../../../app/router.ts'
import { parseOption } from '../../../components/filters/url-filters.ts'
import { formatCost, formatCount, pluralize } from '../../../components/format.ts'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import './callers.css'

const ranges = [
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
] as const
const columns = ['Caller', 'Calls', 'Errors', 'Refused', 'Tokens', 'Cost', 'Last seen']
const limit = 1_000
/** The hub writes what it counted this often. */
const reloadMs = 10_000

export function CallersView() {
  const range = parseOption(ranges)(query.value.get('range') ?? '') || '24h'
  const found = useResource(`callers ${range}`, (signal) =>
    callAdmin('listCallers', { query: { range, limit }, signal }),
  )
  useVisibleInterval(reloadMs, found.reload)
  const usage = found.value.value
  return (
    <div class="scroll stack callers">
      <SegmentedControl
        label="Range"
        value={range}
        options={ranges}
        onChange={(next) => setQuery({ range: next === '24h' ? undefined : next }, { push: true })}
      />
      <LoadState of={found} what="the callers" />
      {usage?.callers.length === 0 && <EmptyState title="No callers in this range" />}
      {usage !== undefined && usage.callers.length > 0 && (
        <div class="panel callers-table" tabIndex={0} role="region" aria-label="Callers">
          <table class="data">
            <thead>
              <tr>
                {columns.map((name, index) => (
                  <th key={name} scope="col" class={index === 0 ? '' : 'number'}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {usage.callers.map((one) => (
                <tr key={one.caller}>
                  <th scope="row">
                    <CallerName caller={one.caller} keys={one.keys} />
                  </th>
                  <UsageCells usage={one} />
                  <td class="number">{one.lastSeenAt === undefined ? '–' : <RelativeTime at={one.lastSeenAt} />}</td>
                </tr>
              ))}
              {usage.others !== undefined && (
                <tr>
                  <th scope="row">Others, which were not counted by themselves</th>
                  <UsageCells usage={usage.others} />
                  <td class="number">–</td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
      {usage !== undefined && usage.more > 0 && <p class="hint">{pluralize(usage.more, 'more caller')}.</p>}
    </div>
  )
}

function CallerName({ caller, keys }: Pick<CallerUsage, 'caller' | 'keys'>) {
  const names = keys.map(({ name }) => name).join(', ')
  return (
    <>
      <a href={`/tasks?caller=${encodeURIComponent(caller)}`} title="Its tasks">
        {caller.startsWith('key:') && names !== '' ? names : caller}
      </a>
      {!caller.startsWith('key:') && names !== '' && <span class="faint"> {names}</span>}
    </>
  )
}

function UsageCells({ usage }: { readonly usage: Omit<CallerUsage, 'caller' | 'keys'> }) {
  const { calls, errors, refused, inputTokens, outputTokens, cost } = usage
  return (
    <>
      <td class="number">{formatCount(calls)}</td>
      <td class={errors > 0 ? 'number mistake' : 'number'}>{formatCount(errors)}</td>
      <td class="number" title="Refused by a limit (429)">
        {formatCount(refused)}
      </td>
      <td class="number" title={`${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`}>
        {formatCount(inputTokens + outputTokens)}
      </td>
      <td class="number">{cost === undefined ? '–' : formatCost(cost)}</td>
    </>
  )
}
