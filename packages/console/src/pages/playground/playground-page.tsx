/** The playground: send messages to an agent, see its answers as they stream, and inspect the protocol. */
import { useEffect, useMemo } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import { useAgentList } from '../../api/agents.ts'
import type { Resource } from '../../api/resource.ts'
import { session } from '../../api/session-state.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { navigate } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { Loading } from '../../components/status/error-notice.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { Chat } from './chat.tsx'
import { ChooseAgent } from './choose-agent.tsx'
import { createChatSession } from './chat-session.ts'
import { createAgentConnections } from './agent-connections.ts'
import { RecentList } from './recent-list.tsx'
import { conversationHref, toggleProtocol, playgroundParams } from './playground-params.ts'
import { createProtocolLog } from './protocol/protocol-log.ts'
import { ProtocolPanel } from './protocol/protocol-panel.tsx'
import './playground.css'

export function consoleCaller(): string {
  const known = session.value
  return `console|${typeof known === 'object' ? known.subject : ''}`
}

export function PlaygroundPage() {
  const { agent } = playgroundParams()
  const all = useAgentList()
  const known = all.value.value
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
  useShortcuts([
    { key: 'n', label: 'New conversation', run: () => navigate(conversationHref(agent)) },
    { key: 'w', label: 'Show or hide the protocol', run: toggleProtocol },
    { key: 'i', label: 'Write a message', run: () => document.querySelector<HTMLElement>('.composer-text')?.focus() },
    { key: '/', label: 'Choose an agent', run: () => document.querySelector<HTMLElement>('.picker input')?.focus() },
  ])
  return (
    <>
      <PageHead title="Playground" backTo="/playground">
        <AgentPicker agent={agent} all={known} />
        <button
          type="button"
          aria-pressed={isProtocolOpen}
          onClick={toggleProtocol}
          title="What goes over the network (w)"
        >
          <Icon name="protocol" size={14} /> Protocol
        </button>
        <a class="button" href={conversationHref(agent)} title="New conversation (n)">
          <Icon name="plus" size={14} /> New
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
