/** Tasks: the list of everybody's, what became of each, and two of them side by side. */
import { place } from '../../app/router.ts'
import { BrowseTasks } from './browse-tasks.tsx'
import { ComparePage } from './compare-page.tsx'
import { tabIn } from './task-places.ts'

export function TasksPage() {
  const [id, view, other] = place.value.rest
  if (id !== undefined && view === 'compare' && other !== undefined) return <ComparePage id={id} other={other} />
  return <BrowseTasks id={id} tab={tabIn(view)} />
}
