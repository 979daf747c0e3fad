/** Tasks of all callers: the list, beside it the selected task, and the comparison of two. */
import { useMemo, useRef } from 'preact/hooks'
import { adminPath, callAdmin } from '../../api/admin-client.ts'
import { usePagedList } from '../../api/use-paged-list.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { pageRoute, query } from '../../app/router.ts'
import { CopyButton, copyText } from '../../components/content/copy-button.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { lazyView } from '../../components/layout/lazy-view.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { adminCurl } from '../../components/shell/curl.ts'
import { createListExport } from '../../components/list/list-export.tsx'
import { TaskDetailView } from './detail/task-detail-view.tsx'
import { TaskFilterBar } from './list/task-filter-bar.tsx'
import { taskFilters, taskListQuery, type TaskFilters } from './list/task-filters.ts'
import { taskListOptions } from './list/task-list.ts'
import { readTaskOrder, taskOrderParams, taskOrderRequest, type TaskOrder } from './list/task-order.ts'
import { TaskListView } from './list/task-list-view.tsx'
import { parseTaskTab, type TaskTab } from './task-links.ts'
import './tasks-page.css'

const ComparePage = lazyView('the comparison', async () => (await import('./compare/compare-page.tsx')).ComparePage)

const taskNoun = ['task', 'tasks'] as const

interface ListedTasks {
  readonly filters: TaskFilters
  readonly order: TaskOrder
}

const { exportList: exportTasks, ExportButton } = createListExport<ListedTasks>({
  noun: taskNoun,
  fileName: 'tasks',
  format: 'json',
  pages(listed) {
    const asked = { ...listQuery(listed), limit: 500 }
    return async (before, signal) => {
      const page = await callAdmin('listTasks', { query: { ...asked, before }, signal })
      return { items: page.tasks, before: page.before }
    }
  },
})

function listQuery({ filters, order }: ListedTasks) {
  return { ...taskListQuery(filters, Date.now()), ...taskOrderRequest(order) }
}

export function TasksPage() {
  const [id, view, other] = pageRoute.value.segments
  if (id !== undefined && view === 'compare' && other !== undefined) return <ComparePage id={id} other={other} />
  return <TaskBrowser id={id} tab={parseTaskTab(view)} />
}

function TaskBrowser({ id, tab }: { readonly id: string | undefined; readonly tab: TaskTab }) {
  const names = [...taskFilters.names, ...taskOrderParams.names]
  const key = names.map((name) => query.value.get(name) ?? '').join('\n')
  const listed = useMemo(() => ({ filters: taskFilters.read(query.value), order: readTaskOrder(query.value) }), [key])
  const { filters, order } = listed
  const list = usePagedList(key, () => taskListOptions(filters, order))

  // The palette actions are registered once, so they read the current list from a ref.
  const now = useRef<ListedTasks>(listed)
  now.current = listed
  const curl = (): string => adminCurl(location.origin, adminPath('listTasks', { query: listQuery(now.current) }))
  usePaletteActions([
    { title: 'Copy the task list as curl', run: () => void copyText(curl()) },
    { title: 'Export the listed tasks', run: () => void exportTasks(now.current) },
  ])
  const isListHidden = id !== undefined && query.value.get('list') === 'off'
  const detail = id === undefined ? undefined : <TaskDetailView key={id} id={id} tab={tab} />
  return (
    <div class={id === undefined ? 'fill listing-page tasks' : 'fill listing-page tasks open'}>
      <PageHead title="Tasks">
        <CopyButton text={curl} label="Copy list as curl" class="small tasks-curl">
          curl
        </CopyButton>
        <ExportButton filters={listed} />
      </PageHead>
      {isListHidden ? (
        <section class="fill split-detail" aria-label="Selected task">
          {detail}
        </section>
      ) : (
        <SplitView
          name="tasks"
          initial={400}
          list={
            <>
              <TaskFilterBar filters={filters} order={order} tasks={list.items} />
              <TaskListView list={list} filters={filters} order={order} selected={id} tab={tab} />
            </>
          }
          detail={detail}
        />
      )}
    </div>
  )
}
