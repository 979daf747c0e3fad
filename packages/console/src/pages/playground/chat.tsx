/** One conversation: its tasks in order, and the composer or form for the next message. */
import { useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { AgentDownBanner } from '../../agent/agent-down-banner.tsx'
import type { Agent } from '../../api/admin.ts'
import { query, setQuery } from '../../app/router.ts'
import { isWorkingState } from '../../conversation/transcript.ts'
import { TranscriptView } from '../../conversation/transcript-view.tsx'
import { CopyableId } from '../../components/content/copy-button.tsx'
import { lazyView } from '../../components/layout/lazy-view.tsx'
import { TaskStateBadge } from '../../components/status/task-state.tsx'
import { Loading } from '../../components/status/error-notice.tsx'
import type { ChatSession } from './chat-session.ts'
import { ChatFailureNotice, TaskFailureNotice } from './chat-failure.tsx'
import { ChatScroll } from './chat-scroll.tsx'
import type { ConversationTask } from './conversation-tasks.ts'
import { playgroundParams } from './playground-params.ts'
import type { ProtocolLog } from './protocol/protocol-log.ts'
import { lastSentParts, Reply } from './reply.tsx'
import './chat.css'

const AgentGreeting = lazyView('the agent', async () => (await import('./greeting.tsx')).AgentGreeting)

export interface ChatProps {
  readonly play: ChatSession
  readonly log: ProtocolLog
  readonly agent: string
  /** `undefined` if the hub did not list the agent. */
  readonly about: Agent | undefined
  /** A request failed: the state of the agent may differ from the one shown. */
  readonly onTrouble: () => void
}

export function Chat({ play, log, agent, about, onTrouble }: ChatProps) {
  const where = playgroundParams()
  const { contextId, taskId } = where
  useEffect(() => play.open({ contextId, taskId }, where), [contextId, taskId])
  useSignalEffect(() => {
    const { contextId: context, taskId: task } = play.location.value
    if (context === undefined) return
    // Writes the session's location to the address; the effect above handles the opposite direction.
    const known = query.peek()
    if (context === (known.get('context') ?? undefined) && task === (known.get('task') ?? undefined)) return
    setQuery({ context, task, text: undefined })
  })
  const slots = play.tasks.value
  const phase = play.phase.value
  const trouble = play.failure.value
  // Not before the conversation of the address is opened.
  const { contextId: openContext, taskId: openTask } = play.location.value
  const isAtAddress = openContext === contextId && openTask === taskId
  useEffect(() => {
    if (trouble !== undefined) onTrouble()
  }, [trouble])
  const last = lastSentParts(slots)
  const retry =
    last === undefined || phase !== 'still' ? undefined : () => play.send(last, { ...where, taskId: undefined })
  return (
    <div class="fill chat">
      <ChatScroll follows={slots.length > 0}>
        {play.hasEarlier.value && (
          <p class="chat-earlier">
            <button type="button" class="small" onClick={() => play.loadEarlier()}>
              Show earlier tasks
            </button>
          </p>
        )}
        {slots.length === 0 && phase === 'loading' && <Loading what="the conversation" />}
        {slots.length === 0 && phase !== 'loading' && isAtAddress && trouble === undefined && (
          <AgentGreeting agent={agent} />
        )}
        {slots.map((slot, index) => (
          <ChatTask
            key={slot.key}
            slot={slot}
            agent={agent}
            isBusy={phase !== 'still' && index === slots.length - 1}
            retry={index === slots.length - 1 && slot.otherCaller === undefined ? retry : undefined}
          />
        ))}
        {trouble !== undefined && <ChatFailureNotice failure={trouble} />}
      </ChatScroll>
      <div class="chat-foot">
        {about !== undefined && <AgentDownBanner agent={about} isLinked />}
        <Reply play={play} log={log} agent={agent} about={about} />
      </div>
    </div>
  )
}

export interface ChatTaskProps {
  readonly slot: ConversationTask
  readonly agent: string
  readonly isBusy: boolean
  readonly retry?: (() => void) | undefined
}

export function ChatTask({ slot, agent, isBusy, retry }: ChatTaskProps) {
  const { transcript } = slot
  const { taskId, state } = transcript
  const isWorking = isBusy && (isWorkingState(state) || taskId === undefined)
  return (
    <section
      class="stack chat-task"
      aria-label={taskId === undefined ? 'New task' : `Task ${taskId}`}
      aria-busy={isWorking}
    >
      {taskId !== undefined && (
        <header class="row chat-task-head">
          <span class="faint">Task</span>
          <CopyableId id={taskId} what="task id" href={`/tasks/${encodeURIComponent(taskId)}`} />
          <TaskStateBadge state={state} />
        </header>
      )}
      <TranscriptView transcript={transcript} agent={agent} isBusy={isBusy} />
      {isWorking && !isWriting(slot) && (
        <p class="chat-thinking" role="status">
          <span aria-hidden="true">◐</span> Working…
        </p>
      )}
      <TaskFailureNotice task={slot} retry={retry} />
    </section>
  )
}

/** The growing text itself shows the progress. */
function isWriting({ transcript }: ConversationTask): boolean {
  const last = transcript.items.at(-1)
  return last?.kind === 'made' && !last.isWhole
}
