/** One agent: overview, card, how to call it, keys and settings. */
import { callAdmin } from '../../api/admin-client.ts'
import { isProblem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { showToast } from '../../app/announce.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { navigate } from '../../app/router.ts'
import { DetailHead } from '../../components/layout/page-head.tsx'
import { Tabs } from '../../components/layout/tabs.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, LoadState } from '../../components/status/error-notice.tsx'
import { agentPath, playgroundPath } from '../../agent/agent-path.ts'
import { AgentDownBanner } from '../../agent/agent-down-banner.tsx'
import { agentStatus } from '../../agent/agent-status.ts'
import { CardTab } from './card/card-tab.tsx'
import { ConnectTab } from './connect/connect-tab.tsx'
import { KeysPanel } from '../../keys/keys-panel.tsx'
import { OverviewTab } from './overview/overview-tab.tsx'
import { RoutesTab } from './routes/routes-tab.tsx'
import { SettingsTab } from './settings/settings-tab.tsx'
import { affectsAgent } from '../../api/agents.ts'
import type { AgentTabProps } from './agent-tab-props.ts'
import './agent-detail-view.css'

const tabTitles = {
  overview: 'Overview',
  card: 'Card',
  connect: 'Connect',
  routes: 'Routes',
  keys: 'Keys',
  settings: 'Settings',
}

/** The agent and its cards, loaded together because every tab needs both. */
async function loadAgent(name: string, signal: AbortSignal): Promise<AgentTabProps> {
  const params = { agent: name }
  const [agent, cards] = await Promise.all([
    callAdmin('getAgent', { params, signal }),
    callAdmin('getAgentCards', { params, signal }).catch((reason: unknown) => {
      if (isProblem(reason, 'NOT_FOUND')) return undefined
      throw reason
    }),
  ])
  return { agent, cards }
}

export function AgentDetailView({
  name,
  tab,
  search,
}: {
  readonly name: string
  readonly tab: string
  readonly search: string
}) {
  const found = useResource(`agent ${name}`, (signal) => loadAgent(name, signal), affectsAgent(name))
  const problem = found.problem.value
  const shown = found.value.value
  usePaletteActions([
    { title: `Try ${name} in the playground`, run: () => navigate(playgroundPath(name)) },
    { title: `Create a key for ${name}`, run: () => navigate(`${agentPath(name, 'keys')}?make=key`) },
    { title: `Connect a program to ${name}`, run: () => navigate(agentPath(name, 'connect')) },
  ])
  if (isProblem(problem, 'NOT_FOUND')) return <AgentNotFound name={name} search={search} />
  return (
    <>
      <DetailHead title={shown?.agent.title ?? name} backTo={`/agents${search}`}>
        <RefreshAgentButton name={name} isDown={shown?.agent.retry !== undefined} onRefreshed={found.reload} />
        <a class="button primary" href={playgroundPath(name)}>
          Try it
        </a>
      </DetailHead>
      <Tabs
        label={`Views of ${name}`}
        open={tab}
        tabs={Object.entries(tabTitles).map(([id, label]) => ({ id, label, href: agentPath(name, id) + search }))}
      />
      <LoadState of={found} what="the agent" />
      {shown !== undefined && (
        <div class="scroll agent-scroll" tabIndex={-1}>
          <AgentDownBanner agent={shown.agent} />
          <AgentTab tab={tab} shown={shown} reload={found.reload} />
        </div>
      )}
    </>
  )
}

function AgentTab({
  tab,
  shown,
  reload,
}: {
  readonly tab: string
  readonly shown: AgentTabProps
  readonly reload: () => void
}) {
  switch (tab) {
    case 'overview':
      return <OverviewTab {...shown} />
    case 'card':
      return <CardTab {...shown} onApproved={reload} />
    case 'connect':
      return <ConnectTab {...shown} />
    case 'routes':
      return <RoutesTab agent={shown.agent.name} />
    case 'keys':
      return <KeysPanel agent={shown.agent.name} />
    case 'settings':
      return <SettingsTab {...shown} onChanged={reload} />
    default:
      return (
        <EmptyState title="Page not found">
          <a class="button" href={agentPath(shown.agent.name)}>
            Go to the overview
          </a>
        </EmptyState>
      )
  }
}

function AgentNotFound({ name, search }: { readonly name: string; readonly search: string }) {
  return (
    <>
      <DetailHead title={name} backTo={`/agents${search}`} />
      <EmptyState title={`No agent named ${name}`}>
        <p>It may have been removed from the configuration. Its tasks are kept.</p>
        <a class="button" href={`/tasks?agent=${encodeURIComponent(name)}`}>
          Show tasks of {name}
        </a>
      </EmptyState>
    </>
  )
}

interface RefreshAgentButtonProps {
  readonly name: string
  readonly isDown: boolean
  readonly onRefreshed: () => void
}

/** Fetches the live card and the health of the agent again. An agent that is down is tried at once. */
function RefreshAgentButton({ name, isDown, onRefreshed }: RefreshAgentButtonProps) {
  const { isBusy, run } = useSubmit(
    async () => {
      const params = { agent: name }
      const after = await callAdmin(isDown ? 'retryAgent' : 'lookAtAgent', { params })
      const { word, text = word } = agentStatus(after)
      showToast(`${name}: ${text}`)
      onRefreshed()
    },
    ({ message }) => showToast(message),
  )
  return (
    <button type="button" disabled={isBusy} onClick={() => void run()}>
      <Icon name="retry" />
      {isBusy ? 'Refreshing…' : 'Refresh'}
    </button>
  )
}
