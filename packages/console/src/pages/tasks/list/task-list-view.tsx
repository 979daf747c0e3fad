/** The tasks as a table; only visible rows are rendered. New tasks do not move the rows on screen. */
import { useRef } from 'preact/hooks'
import type { TaskSummary } from '../../../api/admin.ts'
import { useExampleAgent } from '../../../api/agents.ts'
import type { PagedList } from '../../../api/paged-list.ts'
import { clearQuery, navigate } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { useSize } from '../../../components/layout/use-size.ts'
import { useListShortcuts } from '../../../components/list/list-shortcuts.ts'
import { NewItemsButton } from '../../../components/list/list-states.tsx'
import { EmptyState, ErrorNotice, Loading } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { sendMessageCurl } from '../../../components/shell/curl.ts'
import { taskFilters, type TaskFilters } from './task-filters.ts'
import { compareHref, taskHref, type TaskTab } from '../task-links.ts'
import { hiddenColumns, taskColumns, visibleColumns } from './task-columns.ts'
import { comparedCount } from './task-list.ts'
import type { TaskOrder } from './task-order.ts'
import { chosenTasks, TaskRow } from './task-row.tsx'
import { TaskTableHead } from './task-table-head.tsx'
import './task-list-view.css'
import { pluralize, formatCount } from '../../../components/format.ts'

/** As in the style sheet: one line if there is room, otherwise two. */
const oneLineHeight = 44
const twoLineHeight = 60
const narrow = 620
/** The columns of a row with two lines, whatever the user has chosen. */
const narrowColumns = taskColumns.filter(({ name }) =>
  ['state', 'agent', 'task', 'result', 'duration', 'updated'].includes(name),
)

export interface TaskListProps {
  readonly list: PagedList<TaskSummary>
  readonly filters: TaskFilters
  readonly order: TaskOrder
  readonly selected: string | undefined
  readonly tab: TaskTab
}

export function TaskListView({ list, filters, order, selected, tab }: TaskListProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame, { width: narrow + 1, height: 0 }).value
  const isNarrow = width <= narrow
  const columns = isNarrow ? narrowColumns : visibleColumns(hiddenColumns.value, width)
  const tasks = list.items.value ?? []
  const { cursor } = useListShortcuts({
    items: tasks,
    keyOf: ({ id }) => id,
    noun: 'task',
    at: tasks.findIndex(({ id }) => id === selected),
    frame,
    open: ({ id }) => navigate(taskHref(id, tab), { replace: selected !== undefined }),
    openId: selected,
    opensOnMove: selected !== undefined,
    hasFilter: false,
  })

  const isEmpty = tasks.length === 0 && !list.isLoading.value && list.problem.value === undefined
  return (
    <div
      ref={frame}
      class="fill task-list"
      style={{ '--task-columns': columns.map((column) => column.width).join(' ') }}
    >
      {list.problem.value !== undefined && <ErrorNotice reason={list.problem.value} retry={list.refresh} />}
      <NewItemsButton list={list} frame={frame} />
      {isEmpty && list.pausedAt.value === undefined ? (
        <NoTasks filters={filters} />
      ) : tasks.length === 0 ? (
        list.isLoading.value && <Loading what="tasks" />
      ) : (
        <div class="fill" role="table" aria-label="Tasks" aria-rowcount={list.hasMore.value ? -1 : tasks.length + 1}>
          {!isNarrow && <TaskTableHead columns={columns} order={order} />}
          <VirtualList
            items={tasks}
            rowHeight={isNarrow ? twoLineHeight : oneLineHeight}
            label="Tasks"
            keyOf={({ id }) => id}
            row={(task) => (
              <TaskRow task={task} columns={columns} isSelected={task.id === selected} href={taskHref(task.id, tab)} />
            )}
            selected={cursor}
            onEnd={list.loadMore}
            onTop={list.setAtTop}
            isTable
          />
        </div>
      )}
      <ChosenTasks />
      <ListFooter list={list} />
    </div>
  )
}

function ChosenTasks() {
  const [one, other] = chosenTasks.value
  if (one === undefined) return null
  return (
    <p class="row task-foot">
      {other === undefined ? (
        'Choose another task to compare.'
      ) : (
        <a class="button small primary" href={compareHref(one, other)}>
          Compare 2 tasks
        </a>
      )}
      <button type="button" class="small" onClick={() => (chosenTasks.value = [])}>
        Clear
      </button>
    </p>
  )
}

function ListFooter({ list }: { readonly list: PagedList<TaskSummary> }) {
  const { items, isLoading, hasMore, pausedAt } = list
  const count = items.value?.length ?? 0
  if (pausedAt.value !== undefined) {
    return (
      <p class="task-foot">
        Searched 10,000 more tasks without a match.{' '}
        <button type="button" class="small" onClick={list.continueSearch}>
          Search older tasks
        </button>
      </p>
    )
  }
  if (count === 0) return null
  return (
    <p class="task-foot faint">
      {pluralize(count, 'task')}
      {!hasMore.value ? '' : isLoading.value ? ', loading more…' : ' so far, more below'}
      {comparedCount.value !== undefined &&
        ` · Sorted the ${formatCount(comparedCount.value)} newest matches. Narrow the filters to include older tasks.`}
    </p>
  )
}

/** The empty list: there are no tasks yet, or none matches the filters. */
function NoTasks({ filters }: { readonly filters: TaskFilters }) {
  if (taskFilters.isSet(filters)) {
    return (
      <EmptyState title="No matching tasks">
        <button type="button" onClick={() => clearQuery(taskFilters.names)}>
          Clear filters
        </button>
      </EmptyState>
    )
  }
  return <FirstMessageHint />
}

function FirstMessageHint() {
  const agent = useExampleAgent()
  if (agent === undefined) {
    return (
      <EmptyState title="No tasks yet">
        <p>Add an agent to send it a message.</p>
        <a class="button primary" href="/agents">
          Add agent
        </a>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No tasks yet">
      <p>Every message to an agent creates a task, which appears here immediately. Send the first one:</p>
      <div class="task-first">
        <CodeBlock text={sendMessageCurl(location.origin, agent)} label="command" />
      </div>
      <a class="button primary" href={`/playground/${encodeURIComponent(agent.name)}`}>
        Open playground
      </a>
    </EmptyState>
  )
}
