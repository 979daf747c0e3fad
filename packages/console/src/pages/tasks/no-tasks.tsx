/** Nothing is listed: because there is nothing yet, or because nothing fits. */
import { useExampleAgent } from '../../api/agents.ts'
import { Code } from '../../parts/code.tsx'
import { Empty } from '../../parts/trouble.tsx'
import { sendAsCurl } from './as-curl.ts'
import { clearFilters } from './task-filter-bar.tsx'
import { isFiltered } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

export function NoTasks({ filters }: { readonly filters: TaskFilters }) {
  if (isFiltered(filters)) {
    return (
      <Empty title="No task fits these filters">
        <button type="button" onClick={clearFilters}>
          Clear filters
        </button>
      </Empty>
    )
  }
  return <FirstMessage />
}

function FirstMessage() {
  const agent = useExampleAgent()
  if (agent === undefined) {
    return (
      <Empty title="No tasks yet">
        <p>There is no agent to send anything to.</p>
        <a class="button primary" href="/agents">
          Add an agent
        </a>
      </Empty>
    )
  }
  return (
    <Empty title="No tasks yet">
      <p>Every message to an agent becomes a task, and is listed here as it happens. Send the first one:</p>
      <div class="task-first">
        <Code text={sendAsCurl(location.origin, agent)} label="the command" />
      </div>
      <a class="button primary" href={`/playground/${encodeURIComponent(agent.name)}`}>
        Open the playground
      </a>
    </Empty>
  )
}
