/** Tasks of all callers: the list, the detail, and the comparison of two. */
import { pageRoute } from '../../app/router.ts'
import { TaskBrowser } from './list/task-browser.tsx'
import { ComparePage } from './compare/compare-page.tsx'
import { parseTaskTab } from './task-links.ts'

export function TasksPage() {
  const [id, view, other] = pageRoute.value.segments
  if (id !== undefined && view === 'compare' && other !== undefined) return <ComparePage id={id} other={other} />
  return <TaskBrowser id={id} tab={parseTaskTab(view)} />
}
