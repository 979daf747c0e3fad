/** The filters of the list: agent, state, caller, context, time and text. All are held in the address. */
import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { TaskSummary } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { setQuery } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { Menu } from '../../../components/layout/menu.tsx'
import { SearchField } from '../../../components/filters/search-field.tsx'
import { taskStateDisplay, TaskStateBadge, taskStates } from '../../../components/status/task-state.tsx'
import { truncateMiddle } from '../../../components/format.ts'
import { timePresets } from '../../../components/filters/time-presets.ts'
import { taskFilterNames, hasTaskFilters } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'
import { TimeRangeFields } from '../../../components/filters/time-range-fields.tsx'
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
    async (signal) => (await callAdmin('listAgents', { signal })).agents.map(({ name }) => name),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const frame = useRef<HTMLElement>(null)
  const focus = (): void => frame.current?.querySelector('input')?.select()
  useShortcuts([{ key: '/', label: 'Filter the tasks by a text', run: focus }])
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
      <Menu label="State" chosen={chosenStatesText(states)}>
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
        {timePresets.map(([span, text]) => (
          <option key={span} value={span}>
            {text}
          </option>
        ))}
      </select>
      <Menu label="More" chosen={[caller, context].filter((one) => one !== '').length > 0 ? 'set' : ''} side="right">
        {(close) => <CallerAndContext filters={filters} tasks={tasks} close={close} />}
      </Menu>
      {time === 'custom' && <TimeRangeFields since={filters.since} until={filters.until} />}
      {caller !== '' && <Chip name="caller" value={caller} />}
      {context !== '' && <Chip name="context" value={context} />}
      {hasTaskFilters(filters) && (
        <button type="button" class="small plain" onClick={clearTaskFilters}>
          Clear filters
        </button>
      )}
    </search>
  )
}

export function clearTaskFilters(): void {
  setQuery(Object.fromEntries(taskFilterNames.map((name) => [name, undefined])), { push: true })
}

function hourAgo(): string {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString()
}

function chosenStatesText(states: readonly string[]): string {
  const [first] = states
  return first === undefined ? '' : states.length === 1 ? taskStateDisplay(first).word : String(states.length)
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
          <TaskStateBadge state={state} />
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
      {name} <span class="mono">{truncateMiddle(value, 18)}</span>
      <Icon name="close" size={12} />
    </button>
  )
}
