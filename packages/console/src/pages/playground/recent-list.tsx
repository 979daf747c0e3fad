/** Recent conversations, newest first. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { query } from '../../app/router.ts'
import { taskStateDisplay } from '../../components/status/task-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { LoadState } from '../../components/status/error-notice.tsx'
import { VirtualList } from '../../components/list/virtual-list.tsx'
import { matchesConversation, recentConversations, type RecentConversation } from './recent-conversations.ts'
import { conversationHref } from './playground-params.ts'
import './recent-list.css'

const maxTasks = 300

export function RecentList({ caller, titleId }: { readonly caller: string; readonly titleId?: string }) {
  const tasks = useResource(
    caller,
    (signal) => callAdmin('listTasks', { query: { caller, limit: maxTasks }, signal }),
    (change) => change.type === 'tasks' || (change.type === 'task' && change.task.caller === caller),
  )
  const filter = useSignal('')
  const known = tasks.value.value === undefined ? undefined : recentConversations(tasks.value.value.tasks)
  const found = (known ?? []).filter((one) => matchesConversation(one, filter.value))
  return (
    <div class="fill recent">
      <div class="stack-small recent-head">
        <h2 id={titleId}>Conversations</h2>
        {known !== undefined && known.length > 5 && (
          <input
            type="search"
            aria-label="Filter conversations"
            placeholder="Filter"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        )}
      </div>
      <LoadState of={tasks} what="the conversations" />
      {known?.length === 0 && <p class="recent-none">No conversations yet. Messages that you send appear here.</p>}
      {known !== undefined && known.length > 0 && found.length === 0 && (
        <p class="recent-none">No matching conversations</p>
      )}
      {found.length > 0 && (
        <VirtualList
          items={found}
          rowHeight={52}
          label="Conversations"
          keyOf={({ agent, contextId }) => `${agent} ${contextId}`}
          row={(recent) => <RecentRow recent={recent} />}
        />
      )}
    </div>
  )
}

function RecentRow({ recent }: { readonly recent: RecentConversation }) {
  const { agent, contextId, taskId, title, state, at, tasks } = recent
  const { shape, tone, word } = taskStateDisplay(state)
  const isOpen = query.value.get('context') === contextId
  return (
    <a
      class="list-row recent-row"
      href={conversationHref(agent, { context: contextId, task: taskId })}
      aria-current={isOpen ? 'page' : undefined}
    >
      <span class="row recent-title">
        <span class={`recent-state ${tone}`} title={word}>
          <span aria-hidden="true">{shape}</span>
          <span class="unseen">{word}</span>
        </span>
        <span class="cut" dir="auto">
          {title === '' ? 'No text' : title}
        </span>
      </span>
      <span class="row recent-about faint">
        <span class="cut">{agent}</span>
        {tasks > 1 && <span>{tasks === 1 ? '1 task' : `${tasks.toLocaleString('en-US')} tasks`}</span>}
        <RelativeTime at={at} />
      </span>
    </a>
  )
}
