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
import { agentsStrings } from './strings.ts'
import './agent-detail-view.css'

const words = agentsStrings.detail

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
    { title: words.tryAction(name), run: () => navigate(playgroundPath(name)) },
    { title: words.keyAction(name), run: () => navigate(`${agentPath(name, 'keys')}?make=key`) },
    { title: words.connectAction(name), run: () => navigate(agentPath(name, 'connect')) },
  ])
  if (isProblem(problem, 'NOT_FOUND')) return <AgentNotFound name={name} search={search} />
  return (
    <>
      <DetailHead title={shown?.agent.title ?? name} backTo={`/agents${search}`}>
        <RefreshAgentButton name={name} isDown={shown?.agent.retry !== undefined} onRefreshed={found.reload} />
        <a class="button primary" href={playgroundPath(name)}>
          {words.try}
        </a>
      </DetailHead>
      <Tabs
        label={words.views(name)}
        open={tab}
        tabs={Object.entries(words.tabs).map(([id, label]) => ({ id, label, href: agentPath(name, id) + search }))}
      />
      <LoadState of={found} what={words.loading} />
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
        <EmptyState title={words.noSuchView}>
          <a class="button" href={agentPath(shown.agent.name)}>
            {words.toOverview}
          </a>
        </EmptyState>
      )
  }
}

function AgentNotFound({ name, search }: { readonly name: string; readonly search: string }) {
  return (
    <>
      <DetailHead title={name} backTo={`/agents${search}`} />
      <EmptyState title={words.notFound(name)}>
        <p>{words.notFoundHint}</p>
        <a class="button" href={`/tasks?agent=${encodeURIComponent(name)}`}>
          {words.tasksOf(name)}
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
      showToast(words.refreshed(name, text))
      onRefreshed()
    },
    ({ message }) => showToast(message),
  )
  return (
    <button type="button" disabled={isBusy} onClick={() => void run()}>
      <Icon name="retry" />
      {isBusy ? words.refreshing : words.refresh}
    </button>
  )
}
