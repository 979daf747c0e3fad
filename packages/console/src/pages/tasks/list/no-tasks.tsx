/** The empty list: there are no tasks yet, or none matches the filters. */
import { useExampleAgent } from '../../../api/agents.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { EmptyState } from '../../../components/status/error-notice.tsx'
import { sendMessageCurl } from '../../../components/shell/curl.ts'
import { clearQuery } from '../../../app/router.ts'
import { taskFilters } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

export function NoTasks({ filters }: { readonly filters: TaskFilters }) {
  if (taskFilters.isSet(filters)) {
    return (
      <EmptyState title="No task fits these filters">
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
        <p>There is no agent to send anything to.</p>
        <a class="button primary" href="/agents">
          Add an agent
        </a>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No tasks yet">
      <p>Every message to an agent becomes a task, and is listed here as it happens. Send the first one:</p>
      <div class="task-first">
        <CodeBlock text={sendMessageCurl(location.origin, agent)} label="the command" />
      </div>
      <a class="button primary" href={`/playground/${encodeURIComponent(agent.name)}`}>
        Open the playground
      </a>
    </EmptyState>
  )
}
