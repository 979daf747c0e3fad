/** The pages, with how much there is to see on each; at the foot of the screen on a phone. */
import { useResource } from '../api/resource.ts'
import { call } from '../api/call.ts'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { count } from '../parts/words.ts'
import { place } from './router.ts'
import type { PageName } from './router.ts'
import './rail.css'

interface Entry {
  readonly page: PageName & IconName
  readonly title: string
  readonly number?: number | undefined
  readonly isTrouble?: boolean
}

export function Rail() {
  const health = useResource(
    'rail',
    (signal) => call('getHealth', { signal }),
    ({ type }) => type === 'task' || type === 'tasks' || type === 'agent' || type === 'push' || type === 'config',
  )
  const { agents, tasks = {}, push } = health.value.value ?? {}
  const all = Object.values(tasks).reduce((sum, one) => sum + one, 0)
  const entries: readonly Entry[] = [
    { page: 'agents', title: 'Agents', number: agents?.all, isTrouble: (agents?.down.length ?? 0) > 0 },
    { page: 'playground', title: 'Playground' },
    { page: 'tasks', title: 'Tasks', number: all },
    { page: 'traces', title: 'Traces' },
    { page: 'push', title: 'Push', number: push?.dead, isTrouble: (push?.dead ?? 0) > 0 },
    { page: 'routes', title: 'Routes' },
    { page: 'settings', title: 'Settings' },
  ]
  return (
    <nav class="rail" aria-label="Pages">
      <a class="rail-name" href="/">
        <img src="/console/icon.svg" alt="" width="20" height="20" />
        Parley
      </a>
      <ul>
        {entries.map(({ page, title, number = 0, isTrouble = false }) => (
          <li key={page}>
            <a href={`/${page}`} aria-current={place.value.page === page ? 'page' : undefined}>
              <Icon name={page} />
              <span class="rail-title">{title}</span>
              {number > 0 && (
                <span class={isTrouble ? 'rail-number trouble-text' : 'rail-number'}>{count(number)}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
