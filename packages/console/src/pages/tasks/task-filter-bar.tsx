/** What is listed: by agent, state, caller, context, time and text. All of it stands in the address. */
import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { TaskSummary } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { useKeys } from '../../app/keys.ts'
import { setQuery } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { lookOf, State, taskStates } from '../../parts/state.tsx'
import { shortened } from '../../parts/words.ts'
import { timeSpans } from '../../parts/time-spans.ts'
import { filterNames, isFiltered } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'
import { TimeFields } from './time-fields.tsx'
import './task-filter-bar.css'

export function TaskFilterBar({
  filters,
  tasks,
}: {
  readonly filters: TaskFilters
  readonly tasks: ReadonlySignal<readonly TaskSummary[]>
}) {
  const agents = useResource(
    'agents of the tasks',
    async (signal) => (await call('listAgents', { signal })).agents.map(({ name }) => name),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const frame = useRef<HTMLElement>(null)
  const focus = (): void => frame.current?.querySelector('input')?.select()
  useKeys([{ key: '/', does: 'Filter the tasks by a text', run: focus }])
  const { agent, states, caller, context, time } = filters
  const names = [...new Set([...(agents.value.value ?? []), ...(agent === '' ? [] : [agent])])].sort()
  return (
    <search ref={frame} class="task-filters" aria-label="Filter the tasks">
      <SearchField
        label="Text"
        placeholder="Text, id or metadata"
        value={filters.text}
        onChange={(text) => setQuery({ text: text.trim() })}
      />
      <select
        aria-label="Agent"
        value={agent}
        onChange={(event) => setQuery({ agent: event.currentTarget.value }, { push: true })}
      >
        <option value="">All agents</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Menu label="State" chosen={stateWords(states)}>
        {() => <StateChoice states={states} />}
      </Menu>
      <select
        aria-label="Time"
        value={time}
        onChange={(event) => {
          const span = event.currentTarget.value
          if (span === 'custom') setQuery({ time: span, since: hourAgo() }, { push: true })
          else setQuery({ time: span, since: undefined, until: undefined }, { push: true })
        }}
      >
        {timeSpans.map(([span, text]) => (
          <option key={span} value={span}>
            {text}
          </option>
        ))}
      </select>
      <Menu label="More" chosen={[caller, context].filter((one) => one !== '').length > 0 ? 'set' : ''} side="right">
        {(close) => <CallerAndContext filters={filters} tasks={tasks} close={close} />}
      </Menu>
      {time === 'custom' && <TimeFields since={filters.since} until={filters.until} />}
      {caller !== '' && <Chip name="caller" value={caller} />}
      {context !== '' && <Chip name="context" value={context} />}
      {isFiltered(filters) && (
        <button type="button" class="small plain" onClick={clearFilters}>
          Clear filters
        </button>
      )}
    </search>
  )
}

export function clearFilters(): void {
  setQuery(Object.fromEntries(filterNames.map((name) => [name, undefined])), { push: true })
}

function hourAgo(): string {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString()
}

function stateWords(states: readonly string[]): string {
  const [first] = states
  return first === undefined ? '' : states.length === 1 ? lookOf(first).word : String(states.length)
}

function StateChoice({ states }: { readonly states: readonly string[] }) {
  return (
    <fieldset class="task-states">
      <legend class="unseen">States</legend>
      {taskStates.map((state) => (
        <label key={state} class="menu-check">
          <input
            type="checkbox"
            checked={states.includes(state)}
            onChange={(event) => {
              const others = states.filter((one) => one !== state)
              setQuery({ state: (event.currentTarget.checked ? [...others, state] : others).join(',') })
            }}
          />
          <State state={state} />
        </label>
      ))}
    </fieldset>
  )
}

function CallerAndContext({
  filters,
  tasks,
  close,
}: {
  readonly filters: TaskFilters
  readonly tasks: ReadonlySignal<readonly TaskSummary[]>
  readonly close: () => void
}) {
  const callers = [...new Set(tasks.value.map(({ caller }) => caller))].sort().slice(0, 100)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        const said = new FormData(event.currentTarget)
        const text = (name: string): string => {
          const value = said.get(name)
          return typeof value === 'string' ? value.trim() : ''
        }
        setQuery({ caller: text('caller'), context: text('context') }, { push: true })
        close()
      }}
    >
      <div class="field">
        <label for="tasks-caller">Caller</label>
        <input id="tasks-caller" name="caller" list="tasks-callers" autocomplete="off" defaultValue={filters.caller} />
        <datalist id="tasks-callers">
          {callers.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="tasks-context">Context</label>
        <input id="tasks-context" name="context" autocomplete="off" class="mono" defaultValue={filters.context} />
      </div>
      <button type="submit">Apply</button>
    </form>
  )
}

function Chip({ name, value }: { readonly name: 'caller' | 'context'; readonly value: string }) {
  return (
    <button
      type="button"
      class="small task-chip"
      title={value}
      aria-label={`${name} ${value}: remove this filter`}
      onClick={() => setQuery({ [name]: undefined }, { push: true })}
    >
      {name} <span class="mono">{shortened(value, 18)}</span>
      <Icon name="close" size={12} />
    </button>
  )
}
