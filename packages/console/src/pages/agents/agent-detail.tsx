/** One agent: what it says of itself, how it is called, who may, and how it is set up. */
import { call } from '../../api/call.ts'
import { isProblem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { useActions } from '../../app/palette-state.ts'
import { go } from '../../app/router.ts'
import { DetailHead } from '../../parts/sheet.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { agentPath, playgroundPath } from './agent-path.ts'
import { CardTab } from './card-tab.tsx'
import { ConnectTab } from './connect-tab.tsx'
import { KeysPanel } from './keys-panel.tsx'
import { LookAgain } from './look-again.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { concernsAgent } from './use-agents.ts'
import type { TabProps } from './tab-props.ts'
import './agent-detail.css'

const tabs = [
  ['overview', 'Overview'],
  ['card', 'Card'],
  ['connect', 'Connect'],
  ['keys', 'Keys'],
  ['settings', 'Settings'],
] as const

/** The agent and its cards, which are looked at together because every part of the page needs something of both. */
async function load(name: string, signal: AbortSignal): Promise<TabProps> {
  const params = { agent: name }
  const [agent, cards] = await Promise.all([
    call('getAgent', { params, signal }),
    call('getAgentCards', { params, signal }).catch((reason: unknown) => {
      if (isProblem(reason, 'NOT_FOUND')) return undefined
      throw reason
    }),
  ])
  return { agent, cards }
}

export function AgentDetail({
  name,
  tab,
  search,
}: {
  readonly name: string
  readonly tab: string
  readonly search: string
}) {
  const found = useResource(`agent ${name}`, (signal) => load(name, signal), concernsAgent(name))
  const problem = found.problem.value
  const shown = found.value.value
  useActions([
    { title: `Try ${name} in the playground`, run: () => go(playgroundPath(name)) },
    { title: `Make a key for ${name}`, run: () => go(`${agentPath(name, 'keys')}?make=key`) },
    { title: `Connect a program to ${name}`, run: () => go(agentPath(name, 'connect')) },
  ])
  if (isProblem(problem, 'NOT_FOUND')) return <Gone name={name} search={search} />
  return (
    <>
      <DetailHead title={shown?.agent.title ?? name} backTo={`/agents${search}`}>
        <LookAgain name={name} onLooked={() => found.reload()} />
        <a class="button primary" href={playgroundPath(name)}>
          Try it
        </a>
      </DetailHead>
      <Tabs
        label={`Views of ${name}`}
        open={tab}
        tabs={tabs.map(([id, label]) => ({ id, label, href: agentPath(name, id) + search }))}
      />
      {problem !== undefined && <Trouble reason={problem} retry={() => found.reload()} />}
      {shown === undefined ? (
        problem === undefined && <Loading what="the agent" />
      ) : (
        <div class="scroll agent-scroll" tabIndex={-1}>
          <Open tab={tab} shown={shown} reload={() => found.reload()} />
        </div>
      )}
    </>
  )
}

function Open({ tab, shown, reload }: { readonly tab: string; readonly shown: TabProps; readonly reload: () => void }) {
  switch (tab) {
    case 'overview':
      return <OverviewTab {...shown} />
    case 'card':
      return <CardTab {...shown} onApproved={reload} />
    case 'connect':
      return <ConnectTab {...shown} />
    case 'keys':
      return <KeysPanel agent={shown.agent.name} />
    case 'settings':
      return <SettingsTab {...shown} onChanged={reload} />
    default:
      return (
        <Empty title="There is no such view">
          <a href={agentPath(shown.agent.name)}>Go to the overview</a>
        </Empty>
      )
  }
}

function Gone({ name, search }: { readonly name: string; readonly search: string }) {
  return (
    <>
      <DetailHead title={name} backTo={`/agents${search}`} />
      <Empty title={`There is no agent ${name}`}>
        <p>It may have been taken out of the configuration. Its tasks are still there.</p>
        <a class="button" href={`/tasks?agent=${encodeURIComponent(name)}`}>
          Tasks of {name}
        </a>
      </Empty>
    </>
  )
}
