/** The filters of the traces, all held in the address. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { query, setQuery } from '../../app/router.ts'
import { Menu } from '../../components/layout/menu.tsx'
import { SelectField } from '../../components/filters/select-field.tsx'
import { SearchField } from '../../components/filters/search-field.tsx'
import {
  traceDurationOptions,
  traceFilterNames,
  hasTraceFilters,
  traceStatusOptions,
  traceTimeOptions,
} from './trace-filters.ts'
import type { TraceFilters } from './trace-filters.ts'

export function TraceFilterBar({ filters }: { readonly filters: TraceFilters }) {
  const agents = useResource(
    'agents',
    (signal) => callAdmin('listAgents', { signal }),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const names = new Set((agents.value.value?.agents ?? []).map(({ name }) => name))
  // An agent that was removed from the configuration can still be a filter.
  if (filters.agent !== '') names.add(filters.agent)
  const choices = <Choices filters={filters} names={[...names].sort()} />
  const chosen = traceFilterNames.filter((name) => name !== 'text' && query.value.get(name) !== null).length
  return (
    <search class="toolbar" aria-label="Filter the traces">
      <SearchField
        label="Filter by text"
        placeholder="Id, agent, model, tool or error"
        value={filters.text}
        onChange={(text) => setQuery({ text })}
      />
      <div class="traces-filters">{choices}</div>
      {/* The same filters for narrow screens. */}
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
      <SelectField
        label="Agent"
        value={filters.agent}
        options={[['', 'Any agent'], ...names.map((name) => [name, name] as const)]}
        onChange={(agent) => setQuery({ agent })}
      />
      <SelectField
        label="Status"
        value={filters.status}
        options={traceStatusOptions}
        onChange={(status) => setQuery({ status })}
      />
      <SelectField
        label="Time"
        value={filters.time}
        options={[['', 'Any time'], ...traceTimeOptions]}
        onChange={(time) => setQuery({ time })}
      />
      <SelectField
        label="Duration"
        value={filters.longer}
        options={[['', 'Any duration'], ...traceDurationOptions]}
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
      {hasTraceFilters(filters) && (
        <button
          type="button"
          class="plain"
          onClick={() => setQuery(Object.fromEntries(traceFilterNames.map((name) => [name, ''])))}
        >
          Clear
        </button>
      )}
    </>
  )
}
