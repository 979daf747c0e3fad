/** How the list is shown: its order and its columns. On a phone, where the table has no header, this is the way to sort. */
import { setQuery } from '../../../app/router.ts'
import { CheckField, SelectField } from '../../../components/form/form-fields.tsx'
import { Menu } from '../../../components/layout/menu.tsx'
import { hiddenColumns, showColumn, taskColumns } from './task-columns.ts'
import { isDefaultOrder, taskOrderQuery, type SortDirection, type TaskOrder, type TaskSort } from './task-order.ts'

const sortedBy = { time: 'oldest first', duration: 'by duration', agent: 'by agent', state: 'by state' }
const orderTitles = {
  'time desc': 'Last update, newest first',
  'time asc': 'Last update, oldest first',
  'duration desc': 'Working time, longest first',
  'duration asc': 'Working time, shortest first',
  'agent asc': 'Agent, A to Z',
  'agent desc': 'Agent, Z to A',
  'state asc': 'State, attention needed first',
  'state desc': 'State, completed first',
}

const orders: readonly TaskOrder[] = [
  { sort: 'time', direction: 'desc' },
  { sort: 'time', direction: 'asc' },
  { sort: 'duration', direction: 'desc' },
  { sort: 'duration', direction: 'asc' },
  { sort: 'agent', direction: 'asc' },
  { sort: 'agent', direction: 'desc' },
  { sort: 'state', direction: 'asc' },
  { sort: 'state', direction: 'desc' },
]

export function ViewMenu({ order }: { readonly order: TaskOrder }) {
  return (
    <Menu label="View" chosen={isDefaultOrder(order) ? '' : sortedBy[order.sort]} side="right">
      {() => (
        <div class="stack-small view-menu">
          <div class="field">
            <label for="tasks-sort">Sort by</label>
            <SelectField
              id="tasks-sort"
              value={`${order.sort} ${order.direction}`}
              options={orders.map(({ sort, direction }) => [
                `${sort} ${direction}`,
                orderTitles[`${sort} ${direction}` as const],
              ])}
              onChange={(value) => {
                const [sort, direction] = value.split(' ') as [TaskSort, SortDirection]
                setQuery(taskOrderQuery({ sort, direction }), { push: true })
              }}
            />
          </div>
          <fieldset class="check-list">
            <legend>Columns</legend>
            {taskColumns
              .filter(({ isOptional }) => isOptional)
              .map(({ name, title }) => (
                <CheckField
                  key={name}
                  checked={!hiddenColumns.value.includes(name)}
                  onChange={(isShown) => showColumn(name, isShown)}
                >
                  {title}
                </CheckField>
              ))}
          </fieldset>
        </div>
      )}
    </Menu>
  )
}
