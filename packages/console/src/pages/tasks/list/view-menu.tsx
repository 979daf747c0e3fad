/** How the list is shown: its order and its columns. On a phone, where the table has no header, this is the way to sort. */
import { setQuery } from '../../../app/router.ts'
import { CheckField, SelectField } from '../../../components/form/form-fields.tsx'
import { Menu } from '../../../components/layout/menu.tsx'
import { tasksStrings } from '../strings.ts'
import { hiddenColumns, showColumn, taskColumns } from './task-columns.ts'
import { isDefaultOrder, taskOrderQuery, type SortDirection, type TaskOrder, type TaskSort } from './task-order.ts'

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
  const { list } = tasksStrings
  return (
    <Menu label={list.view} chosen={isDefaultOrder(order) ? '' : list.sortedBy[order.sort]} side="right">
      {() => (
        <div class="stack-small view-menu">
          <div class="field">
            <label for="tasks-sort">{list.sortBy}</label>
            <SelectField
              id="tasks-sort"
              value={`${order.sort} ${order.direction}`}
              options={orders.map(({ sort, direction }) => [
                `${sort} ${direction}`,
                list.orders[`${sort} ${direction}` as const],
              ])}
              onChange={(value) => {
                const [sort, direction] = value.split(' ') as [TaskSort, SortDirection]
                setQuery(taskOrderQuery({ sort, direction }), { push: true })
              }}
            />
          </div>
          <fieldset class="check-list">
            <legend>{list.columns}</legend>
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
