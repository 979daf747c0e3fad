/** The filters of the traces, all held in the address. */
import { clearQuery, query, setQuery } from '../../app/router.ts'
import { Menu } from '../../components/layout/menu.tsx'
import { AgentSelect } from '../../components/filters/agent-select.tsx'
import { SelectField } from '../../components/filters/select-field.tsx'
import { SearchField } from '../../components/filters/search-field.tsx'
import { traceDurationOptions, traceFilters, traceStatusOptions, traceTimeOptions } from './trace-filters.ts'
import type { TraceFilters } from './trace-filters.ts'

export function TraceFilterBar({ filters }: { readonly filters: TraceFilters }) {
  const choices = <Choices filters={filters} />
  const chosen = traceFilters.names.filter((name) => name !== 'text' && query.value.get(name) !== null).length
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

function Choices({ filters }: { readonly filters: TraceFilters }) {
  return (
    <>
      <AgentSelect value={filters.agent} anyText="Any agent" onChange={(agent) => setQuery({ agent })} />
      <SelectField
        label="Status"
        value={filters.status}
        options={traceStatusOptions}
        onChange={(status) => setQuery({ status })}
      />
      <SelectField
        label="Time"
        value={filters.time}
        options={traceTimeOptions}
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
          checked={filters.errors}
          onChange={(event) => setQuery({ errors: event.currentTarget.checked ? 'yes' : '' })}
        />
        With errors
      </label>
      {traceFilters.isSet(filters) && (
        <button type="button" class="plain" onClick={() => clearQuery(traceFilters.names)}>
          Clear
        </button>
      )}
    </>
  )
}
