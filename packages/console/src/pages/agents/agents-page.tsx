/** The agents: a live list, and beside it the selected agent or the form for a new one. */
import { query, pageRoute } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { AgentDetailView } from './agent-detail-view.tsx'
import { AgentsList } from './list/agents-list.tsx'
import { NewAgent } from './new/new-agent.tsx'
import { useAgentsWithLoad } from '../../api/agents.ts'

export function AgentsPage() {
  const agents = useAgentsWithLoad()
  const [name, tab] = pageRoute.value.segments
  // An agent may be named `new`: its tabs have longer paths, and only the bare name is the form.
  const isNew = name === 'new' && tab === undefined
  const search = listSearch(query.value)
  return (
    <>
      <PageHead title="Agents">
        <a class="button" href="/agents/new">
          <Icon name="plus" /> Add agent
        </a>
      </PageHead>
      <SplitView
        name="agents"
        initial={400}
        list={<AgentsList agents={agents} selected={isNew ? undefined : name} tab={tab} search={search} />}
        detail={
          isNew ? (
            <NewAgent />
          ) : name === undefined ? undefined : (
            <AgentDetailView key={name} name={name} tab={tab ?? 'overview'} search={search} />
          )
        }
      />
    </>
  )
}

/** Keeps the query parameters of the list and drops those of a tab. */
function listSearch(given: URLSearchParams): string {
  const kept = new URLSearchParams(
    [...given].filter(([name]) => ['text', 'kind', 'tag', 'health', 'sort'].includes(name)),
  )
  return kept.size === 0 ? '' : `?${kept}`
}
