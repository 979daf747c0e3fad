/** The header of the task table: a column that the hub can sort by is a button. */
import { setQuery } from '../../../app/router.ts'
import type { TaskColumn } from './task-columns.ts'
import { nextTaskOrder, taskOrderQuery, type TaskOrder, type TaskSort } from './task-order.ts'

const sortHint = {
  time: 'Sort by last update',
  duration: 'Sort by working time, without the time spent waiting for input. Compares the 1,000 newest matches.',
  agent: 'Sort by agent, newest first within an agent',
  state: 'Sort by state, newest first within a state',
}

export function sortTasks(order: TaskOrder, sort: TaskSort): void {
  setQuery(taskOrderQuery(nextTaskOrder(order, sort)), { push: true })
}

export function TaskTableHead({
  columns,
  order,
}: {
  readonly columns: readonly TaskColumn[]
  readonly order: TaskOrder
}) {
  return (
    <div role="rowgroup">
      <div class="task-table-head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <HeaderCell key={column.name} column={column} order={order} />
        ))}
      </div>
    </div>
  )
}

function HeaderCell({ column, order }: { readonly column: TaskColumn; readonly order: TaskOrder }) {
  const { title, sort, isNumber = false } = column
  const look = isNumber ? 'task-number' : undefined
  if (sort === undefined) {
    return (
      <span role="columnheader" class={look}>
        {title}
      </span>
    )
  }
  const isSorted = order.sort === sort
  const direction = !isSorted ? 'none' : order.direction === 'asc' ? 'ascending' : 'descending'
  return (
    <span role="columnheader" class={look} aria-sort={direction}>
      <button
        type="button"
        class={isSorted ? 'task-sort sorted' : 'task-sort'}
        title={sortHint[sort]}
        onClick={() => sortTasks(order, sort)}
      >
        {title}
        <span class="task-sort-mark" aria-hidden="true">
          {direction === 'ascending' ? '↑' : '↓'}
        </span>
      </button>
    </span>
  )
}
