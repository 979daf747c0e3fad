/** One conversation: its tasks one under the other, and at the foot whatever the next message needs. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import { query, setQuery } from '../../app/router.ts'
import { isAtWork } from '../../conversation/talk.ts'
import { TalkView } from '../../conversation/talk-view.tsx'
import { Id } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { State } from '../../parts/state.tsx'
import { Loading, Trouble } from '../../parts/trouble.tsx'
import { AgentNotice } from './agent-notice.tsx'
import { Greeting } from './greeting.tsx'
import type { Play } from './play.ts'
import { Reply } from './reply.tsx'
import type { Slot } from './slots.ts'
import { whereNow } from './where.ts'
import type { WireLog } from './wire/wire-log.ts'
import './chat.css'

export interface ChatProps {
  readonly play: Play
  readonly log: WireLog
  readonly agent: string
  /** `undefined` where the hub did not list it. */
  readonly about: Agent | undefined
  /** Something failed: the agent may be in another state than the one that is shown. */
  readonly onTrouble: () => void
}

export function Chat({ play, log, agent, about, onTrouble }: ChatProps) {
  const where = whereNow()
  const { contextId, taskId } = where
  useEffect(() => play.open({ contextId, taskId }, where), [contextId, taskId])
  useSignalEffect(() => {
    const { contextId: context, taskId: task } = play.place.value
    if (context === undefined) return
    // Only where one is leads here; what somebody wrote into the address leads the other way.
    const known = query.peek()
    if (context === (known.get('context') ?? undefined) && task === (known.get('task') ?? undefined)) return
    setQuery({ context, task, text: undefined })
  })
  const slots = play.slots.value
  const phase = play.phase.value
  const trouble = play.trouble.value
  useEffect(() => {
    if (trouble !== undefined) onTrouble()
  }, [trouble])
  return (
    <div class="chat">
      <Scroll>
        {play.hasEarlier.value && (
          <p class="chat-earlier">
            <button type="button" class="small" onClick={() => play.loadEarlier()}>
              Show earlier tasks
            </button>
          </p>
        )}
        {slots.length === 0 && phase === 'loading' && <Loading what="the conversation" />}
        {slots.length === 0 && phase !== 'loading' && trouble === undefined && <Greeting agent={agent} />}
        {slots.map((slot, index) => (
          <TaskTalk key={slot.key} slot={slot} agent={agent} isBusy={phase !== 'still' && index === slots.length - 1} />
        ))}
      </Scroll>
      <div class="chat-foot">
        {trouble !== undefined && (
          <Trouble reason={trouble.problem} {...(trouble.again === undefined ? {} : { retry: trouble.again })} />
        )}
        {about !== undefined && <AgentNotice agent={about} />}
        <Reply play={play} log={log} agent={agent} isOpen={about?.isOpen ?? false} />
      </div>
    </div>
  )
}

function TaskTalk({ slot, agent, isBusy }: { readonly slot: Slot; readonly agent: string; readonly isBusy: boolean }) {
  const { talk } = slot
  const { taskId, state } = talk
  const isWorking = isBusy && (isAtWork(state) || taskId === undefined)
  return (
    <section class="chat-task" aria-label={taskId === undefined ? 'New task' : `Task ${taskId}`} aria-busy={isWorking}>
      {taskId !== undefined && (
        <header class="chat-task-head">
          <span class="faint">Task</span>
          <Id id={taskId} what="task id" href={`/tasks/${encodeURIComponent(taskId)}`} />
          <State state={state} />
        </header>
      )}
      <TalkView talk={talk} agent={agent} isBusy={isBusy} />
      {isWorking && !isWriting(slot) && (
        <p class="chat-thinking" role="status">
          <span aria-hidden="true">◐</span> {agent} is at work
        </p>
      )}
    </section>
  )
}

/** Then the text itself shows that it goes on. */
function isWriting({ talk }: Slot): boolean {
  const last = talk.items.at(-1)
  return last?.kind === 'made' && !last.isWhole
}

/** Stays at the end while one is there; else it says that there is more. */
function Scroll({ children }: { readonly children: preact.ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null)
  const inside = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  const top = useRef(0)
  useLayoutEffect(() => {
    const [element, content] = [frame.current, inside.current]
    if (element === null || content === null) return
    const stay = (): void => {
      if (isAtEnd.peek()) element.scrollTop = element.scrollHeight
    }
    const watch = new ResizeObserver(stay)
    watch.observe(content)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  /** What came since one was at the end moves nobody away from it: only going up does. */
  function scrolled(): void {
    const element = frame.current
    if (element === null) return
    const { scrollTop, clientHeight, scrollHeight } = element
    if (scrollTop + clientHeight >= scrollHeight - 40) isAtEnd.value = true
    else if (scrollTop < top.current) isAtEnd.value = false
    top.current = scrollTop
  }
  return (
    <div class="chat-view">
      <div ref={frame} class="chat-scroll" onScroll={scrolled} tabIndex={0} role="region" aria-label="Conversation">
        <div ref={inside} class="chat-inside">
          {children}
        </div>
      </div>
      {!isAtEnd.value && (
        <button
          type="button"
          class="small chat-down"
          onClick={() => frame.current?.scrollTo({ top: frame.current.scrollHeight })}
        >
          <Icon name="down" size={14} /> To the end
        </button>
      )}
    </div>
  )
}
