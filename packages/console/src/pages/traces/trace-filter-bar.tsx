/** By what traces are found. Each filter stands in the address. */
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { query, setQuery } from '../../app/router.ts'
import { Menu } from '../../parts/menu.tsx'
import { Pick } from '../../parts/pick.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { durations, filterNames, isFiltered, statuses, times } from './trace-filters.ts'
import type { TraceFilters } from './trace-filters.ts'

export function TraceFilterBar({ filters }: { readonly filters: TraceFilters }) {
  const agents = useResource(
    'agents',
    (signal) => call('listAgents', { signal }),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const names = new Set((agents.value.value?.agents ?? []).map(({ name }) => name))
  // One that was taken out of the configuration may still be asked for.
  if (filters.agent !== '') names.add(filters.agent)
  const choices = <Choices filters={filters} names={[...names].sort()} />
  const chosen = filterNames.filter((name) => name !== 'text' && query.value.get(name) !== null).length
  return (
    <search class="toolbar" aria-label="Filter the traces">
      <SearchField
        label="Filter by text"
        placeholder="Id, agent, model, tool or error"
        value={filters.text}
        onChange={(text) => setQuery({ text })}
      />
      <div class="traces-filters">{choices}</div>
      {/* The same where there is little room. */}
      <div class="traces-folded">
        <Menu label="Filters" chosen={chosen === 0 ? '' : String(chosen)} side="right">
          {() => choices}
        </Menu>
      </div>
    </search>
  )
}

function Choices({ filters, names }: { readonly filters: TraceFilters; readonly names: readonly string[] }) {
  return (
    <>
      <Pick
        label="Agent"
        value={filters.agent}
        options={[['', 'Any agent'], ...names.map((name) => [name, name] as const)]}
        onChange={(agent) => setQuery({ agent })}
      />
      <Pick label="Status" value={filters.status} options={statuses} onChange={(status) => setQuery({ status })} />
      <Pick
        label="Time"
        value={filters.time}
        options={[['', 'Any time'], ...times]}
        onChange={(time) => setQuery({ time })}
      />
      <Pick
        label="Duration"
        value={filters.longer}
        options={[['', 'Any duration'], ...durations]}
        onChange={(longer) => setQuery({ longer })}
      />
      <label class="traces-check">
        <input
          type="checkbox"
          checked={filters.hasErrors}
          onChange={(event) => setQuery({ errors: event.currentTarget.checked ? 'yes' : '' })}
        />
        With errors
      </label>
      {isFiltered(filters) && (
        <button
          type="button"
          class="plain"
          onClick={() => setQuery(Object.fromEntries(filterNames.map((name) => [name, ''])))}
        >
          Clear
        </button>
      )}
    </>
  )
}
