/** The agents: a list that is live, and beside it whichever is chosen, or the form for another one. */
import { query, place } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
import { AgentDetail } from './agent-detail.tsx'
import { AgentsList } from './agents-list.tsx'
import { NewAgent } from './new-agent.tsx'
import { useAgents } from './use-agents.ts'

export function AgentsPage() {
  const agents = useAgents()
  const [name, tab] = place.value.rest
  // An agent may be called so: its pages are below, and only the bare name is the form.
  const isNew = name === 'new' && tab === undefined
  const search = listSearch(query.value)
  return (
    <>
      <PageHead title="Agents">
        <a class="button" href="/agents/new">
          <Icon name="plus" /> Add an agent
        </a>
      </PageHead>
      <Split
        name="agents"
        initial={400}
        list={<AgentsList agents={agents} selected={isNew ? undefined : name} tab={tab} search={search} />}
        detail={
          isNew ? (
            <NewAgent />
          ) : name === undefined ? undefined : (
            <AgentDetail key={name} name={name} tab={tab ?? 'overview'} search={search} />
          )
        }
      />
    </>
  )
}

/** What belongs to the list stays when another agent is chosen; what belongs to a tab does not. */
function listSearch(given: URLSearchParams): string {
  const kept = new URLSearchParams([...given].filter(([name]) => ['text', 'kind', 'tag', 'health'].includes(name)))
  return kept.size === 0 ? '' : `?${kept}`
}
