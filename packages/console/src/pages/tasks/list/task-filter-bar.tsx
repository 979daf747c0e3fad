/** The filters of the list: agent, state, caller, context, time and text. All are held in the address. */
import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { TaskSummary } from '../../../api/admin.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { setQuery } from '../../../app/router.ts'
import { CheckField } from '../../../components/form/form-fields.tsx'
import { Menu } from '../../../components/layout/menu.tsx'
import {
  AgentSelect,
  CheckList,
  ClearFilters,
  FilterChip,
  SearchField,
  TimeRangeFields,
  TimeSelect,
} from '../../../components/filters/filter-fields.tsx'
import { taskStateDisplay, TaskStateBadge, taskStates } from '../../../components/status/task-state.tsx'
import { taskFilters, type TaskFilters } from './task-filters.ts'
import type { TaskOrder } from './task-order.ts'
import { ViewMenu } from './view-menu.tsx'
import './task-filter-bar.css'

export function TaskFilterBar({
  filters,
  order,
  tasks,
}: {
  readonly filters: TaskFilters
  readonly order: TaskOrder
  readonly tasks: ReadonlySignal<readonly TaskSummary[] | undefined>
}) {
  const frame = useRef<HTMLElement>(null)
  const focus = (): void => frame.current?.querySelector('input')?.select()
  useShortcuts([{ key: '/', label: 'Filter tasks by text', run: focus }])
  const { agent, state, caller, context, level, time } = filters
  return (
    <search ref={frame} class="bar toolbar task-filters" aria-label="Filter tasks">
      <SearchField
        label="Text"
        placeholder="Text, error, id or metadata"
        value={filters.text}
        onChange={(text) => setQuery({ text: text.trim() })}
      />
      <AgentSelect value={agent} anyText="All agents" onChange={(name) => setQuery({ agent: name }, { push: true })} />
      <Menu label="State" chosen={chosenStatesText(state)}>
        {() => (
          <CheckList
            label="States"
            name="state"
            options={taskStates}
            chosen={state}
            text={(one) => <TaskStateBadge state={one} />}
          />
        )}
      </Menu>
      <TimeSelect time={time} />
      <Menu label="More" chosen={caller + context + level === '' ? '' : 'set'} side="right">
        {(close) => <CallerAndContext filters={filters} tasks={tasks} close={close} />}
      </Menu>
      <ViewMenu order={order} />
      {time === 'custom' && <TimeRangeFields since={filters.since} until={filters.until} />}
      <FilterChip
        name="caller"
        label="Caller"
        value={caller}
        text={callerNames(tasks.value).find(([one]) => one === caller)?.[1]}
      />
      <FilterChip name="context" label="Context" value={context} />
      <FilterChip name="level" label="Level" value={level} />
      <ClearFilters filters={taskFilters} values={filters} />
    </search>
  )
}

function chosenStatesText(states: readonly string[]): string {
  const [first] = states
  return first === undefined ? '' : states.length === 1 ? taskStateDisplay(first).word : String(states.length)
}

/** The callers of the loaded tasks, with their names. */
function callerNames(tasks: readonly TaskSummary[] | undefined): readonly (readonly [caller: string, name: string])[] {
  return [...new Map(tasks?.map(({ caller, callerName = caller }) => [caller, callerName]))]
}

function CallerAndContext({
  filters,
  tasks,
  close,
}: {
  readonly filters: TaskFilters
  readonly tasks: ReadonlySignal<readonly TaskSummary[] | undefined>
  readonly close: () => void
}) {
  const callers = callerNames(tasks.value)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .slice(0, 100)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const text = (name: string): string => {
          const value = form.get(name)
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
          {callers.map(([caller, name]) => (
            <option key={caller} value={caller}>
              {name}
            </option>
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="tasks-context">Context</label>
        <input id="tasks-context" name="context" autocomplete="off" class="mono" defaultValue={filters.context} />
      </div>
      <CheckField
        checked={filters.level !== ''}
        onChange={(isTop) => setQuery({ level: isTop ? 'top' : undefined }, { push: true })}
      >
        Top-level only: no delegated tasks
      </CheckField>
      <button type="submit">Apply</button>
    </form>
  )
}
