/** Talking to an agent: what one says, what it answers as it comes, and what goes over the wire. */
import { useEffect, useMemo } from 'preact/hooks'
import { session } from '../../api/session-state.ts'
import { useKeys } from '../../app/keys.ts'
import { go } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
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
  return agent === undefined ? <ChooseAgent caller={caller()} /> : <Playground key={agent} agent={agent} />
}

function Playground({ agent }: { readonly agent: string }) {
  const { isWireOpen } = whereNow()
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
        <AgentPicker agent={agent} />
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
          list={<Chat play={play} log={log} agent={agent} />}
          detail={isWireOpen && <WirePanel log={log} />}
        />
      </div>
    </>
  )
}
