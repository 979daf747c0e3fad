/** What was talked about here before: conversations, the newest first, to go on with. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { query } from '../../app/router.ts'
import { lookOf } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { Loading, Trouble } from '../../parts/trouble.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { many } from '../../parts/words.ts'
import { matches, recentOf } from './recent-of.ts'
import type { Recent } from './recent-of.ts'
import { hrefOf } from './where.ts'
import './recent-list.css'

const most = 300

export function RecentList({ caller, titleId }: { readonly caller: string; readonly titleId?: string }) {
  const tasks = useResource(
    caller,
    (signal) => call('listTasks', { query: { caller, limit: most }, signal }),
    (change) => change.type === 'tasks' || (change.type === 'task' && change.task.caller === caller),
  )
  const filter = useSignal('')
  const known = tasks.value.value === undefined ? undefined : recentOf(tasks.value.value.tasks)
  const found = (known ?? []).filter((one) => matches(one, filter.value))
  return (
    <div class="recent">
      <div class="recent-head">
        <h2 id={titleId}>Conversations</h2>
        {known !== undefined && known.length > 5 && (
          <input
            type="search"
            aria-label="Filter the conversations"
            placeholder="Filter"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        )}
      </div>
      {tasks.problem.value !== undefined && <Trouble reason={tasks.problem.value} retry={tasks.reload} />}
      {known === undefined && tasks.problem.value === undefined && <Loading what="the conversations" />}
      {known?.length === 0 && <p class="recent-none">None yet. What you send appears here, to go on with later.</p>}
      {known !== undefined && known.length > 0 && found.length === 0 && <p class="recent-none">None fits.</p>}
      {found.length > 0 && (
        <VirtualList
          count={found.length}
          rowHeight={52}
          label="Conversations"
          keyOf={(index) => `${found[index]?.agent} ${found[index]?.contextId}`}
          row={(index) => <RecentRow recent={found[index] as Recent} />}
        />
      )}
    </div>
  )
}

function RecentRow({ recent }: { readonly recent: Recent }) {
  const { agent, contextId, taskId, title, state, at, tasks } = recent
  const { shape, tone, word } = lookOf(state)
  const isOpen = query.value.get('context') === contextId
  return (
    <a
      class="recent-row"
      href={hrefOf(agent, { context: contextId, task: taskId })}
      aria-current={isOpen ? 'page' : undefined}
    >
      <span class="recent-title">
        <span class={`recent-state ${tone}`} title={word}>
          <span aria-hidden="true">{shape}</span>
          <span class="unseen">{word}</span>
        </span>
        <span class="cut" dir="auto">
          {title === '' ? 'No words' : title}
        </span>
      </span>
      <span class="recent-about faint">
        <span class="cut">{agent}</span>
        {tasks > 1 && <span>{many(tasks, 'task')}</span>}
        <Ago at={at} />
      </span>
    </a>
  )
}
