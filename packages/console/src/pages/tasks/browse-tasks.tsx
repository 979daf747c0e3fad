/** The list, and beside it the task that is selected. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { pathOf } from '../../api/call.ts'
import { onChange } from '../../api/feed.ts'
import { useActions } from '../../app/palette-state.ts'
import { query } from '../../app/router.ts'
import { Copy, copyText } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
import { asCurl } from './as-curl.ts'
import { ExportTasks, exportTasks } from './export-tasks.tsx'
import { TaskDetail } from './task-detail.tsx'
import { TaskFilterBar } from './task-filter-bar.tsx'
import { askFor, filterNames, filtersIn } from './task-filters.ts'
import { createTaskList } from './task-list-store.ts'
import { TaskListView } from './task-list.tsx'
import type { TaskTab } from './task-places.ts'
import './browse-tasks.css'

export function BrowseTasks({ id, tab }: { readonly id: string | undefined; readonly tab: TaskTab }) {
  const key = filterNames.map((name) => query.value.get(name) ?? '').join('\n')
  const filters = useMemo(() => filtersIn(query.value), [key])
  const list = useMemo(() => createTaskList(filters), [filters])
  useEffect(() => {
    const stop = onChange(list.tell)
    return () => {
      stop()
      list.close()
    }
  }, [list])

  // What can be done from the search is registered once, whatever is filtered later.
  const now = useRef(filters)
  now.current = filters
  const curl = (): string => asCurl(location.origin, pathOf('listTasks', { query: askFor(now.current, Date.now()) }))
  useActions([
    { title: 'Copy the list of tasks as curl', run: () => void copyText(curl()) },
    { title: 'Export the tasks that are listed', run: () => void exportTasks(now.current) },
  ])
  const isListHidden = id !== undefined && query.value.get('list') === 'off'
  const detail = id === undefined ? undefined : <TaskDetail key={id} id={id} tab={tab} />
  return (
    <div class={id === undefined ? 'tasks' : 'tasks open'}>
      <PageHead title="Tasks">
        <Copy text={curl} label="Copy the list as curl" class="small tasks-curl">
          curl
        </Copy>
        <ExportTasks filters={filters} />
      </PageHead>
      {isListHidden ? (
        <section class="split-detail" aria-label="Selected">
          {detail}
        </section>
      ) : (
        <Split
          name="tasks"
          initial={400}
          list={
            <>
              <TaskFilterBar filters={filters} tasks={list.tasks} />
              <TaskListView list={list} filters={filters} selected={id} tab={tab} />
            </>
          }
          detail={detail}
        />
      )}
    </div>
  )
}
