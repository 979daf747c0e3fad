/** The playground: send messages to an agent, see its answers as they stream, and inspect the protocol. */
import { useEffect, useMemo } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import { useAgentList } from '../../api/agents.ts'
import type { Resource } from '../../api/resource.ts'
import { consoleCaller } from '../../api/session-state.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { navigate } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { useDocumentTitle } from '../../components/layout/document-title.ts'
import { lazyView } from '../../components/layout/lazy-view.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { Loading } from '../../components/status/error-notice.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { Chat } from './chat.tsx'
import { createChatSession } from './chat-session.ts'
import { createAgentConnections } from './agent-connections.ts'
import { compareHref, isComparison } from './compare/compare-params.ts'
import { RecentList } from './recent-list.tsx'
import { conversationHref, toggleProtocol, playgroundParams } from './playground-params.ts'
import { createProtocolLog } from './protocol/protocol-log.ts'
import './playground.css'

const ChooseAgent = lazyView('the agents', async () => (await import('./choose-agent.tsx')).ChooseAgent)
const ComparePage = lazyView('the comparison', async () => (await import('./compare/compare-page.tsx')).ComparePage)
const ProtocolPanel = lazyView(
  'the protocol',
  async () => (await import('./protocol/protocol-panel.tsx')).ProtocolPanel,
)

export function PlaygroundPage() {
  const { agent } = playgroundParams()
  const all = useAgentList()
  const known = all.value.value
  if (isComparison((known ?? []).map(({ name }) => name))) return <ComparePage all={all} caller={consoleCaller} />
  const isMissing = known !== undefined && known.every(({ name }) => name !== agent)
  if (agent === undefined || isMissing) return <ChooseAgent caller={consoleCaller()} all={all} missing={agent} />
  if (known !== undefined || all.problem.value !== undefined) return <Playground key={agent} agent={agent} all={all} />
  return (
    <>
      <PageHead title="Playground" backTo="/playground" />
      <Loading what="the agents" />
    </>
  )
}

function Playground({ agent, all }: { readonly agent: string; readonly all: Resource<readonly Agent[]> }) {
  const { isProtocolOpen } = playgroundParams()
  const known = all.value.value ?? []
  const log = useMemo(() => createProtocolLog(), [])
  const play = useMemo(() => createChatSession(agent, createAgentConnections(log), consoleCaller), [])
  useEffect(() => () => play.close(), [])
  useDocumentTitle('item', agent)
  useShortcuts([
    { key: 'n', label: 'New conversation', run: () => navigate(conversationHref(agent)) },
    { key: 'w', label: 'Show or hide the protocol', run: toggleProtocol },
    { key: 'i', label: 'Write a message', run: () => document.querySelector<HTMLElement>('.composer-text')?.focus() },
    { key: '/', label: 'Choose an agent', run: () => document.querySelector<HTMLElement>('.picker input')?.focus() },
  ])
  usePaletteActions([{ title: 'Compare with another agent', run: () => navigate(compareHref(agent)) }])
  return (
    <>
      <PageHead title="Playground" backTo="/playground">
        <AgentPicker agent={agent} all={known} />
        <a class="button" href={compareHref(agent)} title="Send one prompt to two agents">
          <Icon name="compare" size={14} /> <span class="play-word">Compare</span>
        </a>
        <button
          type="button"
          aria-pressed={isProtocolOpen}
          onClick={toggleProtocol}
          title="Show requests and responses (w)"
        >
          <Icon name="protocol" size={14} /> <span class="play-word">Protocol</span>
        </button>
        <a class="button" href={conversationHref(agent)} title="New conversation (n)">
          <Icon name="plus" size={14} /> <span class="play-word">New</span>
        </a>
      </PageHead>
      <div class={isProtocolOpen ? 'play with-protocol' : 'play'}>
        <aside class="play-recent" aria-label="Conversations">
          <RecentList caller={consoleCaller()} />
        </aside>
        <SplitView
          name="playground"
          initial={560}
          list={
            <Chat
              play={play}
              log={log}
              agent={agent}
              about={known.find(({ name }) => name === agent)}
              onTrouble={all.reload}
            />
          }
          detail={isProtocolOpen && <ProtocolPanel log={log} />}
        />
      </div>
    </>
  )
}
