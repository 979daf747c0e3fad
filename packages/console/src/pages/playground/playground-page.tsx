/** Talking to an agent: what one says, what it answers as it comes, and what goes over the wire. */
import { useEffect, useMemo } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import { useAgentList } from '../../api/agents.ts'
import type { Resource } from '../../api/resource.ts'
import { session } from '../../api/session-state.ts'
import { useKeys } from '../../app/keys.ts'
import { go } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
import { Loading } from '../../parts/trouble.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { Chat } from './chat.tsx'
import { ChooseAgent } from './choose-agent.tsx'
import { createPlay } from './play.ts'
import { createReach } from './reach.ts'
import { RecentList } from './recent-list.tsx'
import { hrefOf, toggleWire, whereNow } from './where.ts'
import { createWireLog } from './wire/wire-log.ts'
import { WirePanel } from './wire/wire-panel.tsx'
import './playground.css'

export function caller(): string {
  const known = session.value
  return `console|${typeof known === 'object' ? known.subject : ''}`
}

export function PlaygroundPage() {
  const { agent } = whereNow()
  const all = useAgentList()
  const known = all.value.value
  const isMissing = known !== undefined && known.every(({ name }) => name !== agent)
  if (agent === undefined || isMissing) return <ChooseAgent caller={caller()} all={all} missing={agent} />
  if (known !== undefined || all.problem.value !== undefined) return <Playground key={agent} agent={agent} all={all} />
  return (
    <>
      <PageHead title="Playground" backTo="/playground" />
      <Loading what="the agents" />
    </>
  )
}

function Playground({ agent, all }: { readonly agent: string; readonly all: Resource<readonly Agent[]> }) {
  const { isWireOpen } = whereNow()
  const known = all.value.value ?? []
  const log = useMemo(() => createWireLog(), [])
  const play = useMemo(() => createPlay(agent, createReach(log), caller), [])
  useEffect(() => () => play.close(), [])
  useKeys([
    { key: 'n', does: 'New conversation', run: () => go(hrefOf(agent)) },
    { key: 'w', does: 'Show or hide the wire', run: toggleWire },
    { key: 'i', does: 'Write a message', run: () => document.querySelector<HTMLElement>('.composer-text')?.focus() },
    { key: '/', does: 'Choose an agent', run: () => document.querySelector<HTMLElement>('.picker input')?.focus() },
  ])
  return (
    <>
      <PageHead title="Playground" backTo="/playground">
        <AgentPicker agent={agent} all={known} />
        <button type="button" aria-pressed={isWireOpen} onClick={toggleWire} title="What goes over the wire (w)">
          <Icon name="wire" size={14} /> Wire
        </button>
        <a class="button" href={hrefOf(agent)} title="New conversation (n)">
          <Icon name="plus" size={14} /> New
        </a>
      </PageHead>
      <div class={isWireOpen ? 'play with-wire' : 'play'}>
        <aside class="play-recent" aria-label="Conversations">
          <RecentList caller={caller()} />
        </aside>
        <Split
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
          detail={isWireOpen && <WirePanel log={log} />}
        />
      </div>
    </>
  )
}
