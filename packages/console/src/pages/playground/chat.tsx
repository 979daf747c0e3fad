/** One conversation: its tasks in order, and the composer or form for the next message. */
import { useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { agentLastError, agentStatus } from '../../agent/agent-status.ts'
import { agentPath } from '../../agent/agent-path.ts'
import { parseCard } from '../../agent/parse-card.ts'
import type { Agent } from '../../api/admin.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { query, setQuery } from '../../app/router.ts'
import { isWorkingState } from '../../conversation/transcript.ts'
import { TranscriptView } from '../../conversation/transcript-view.tsx'
import { CopyableId } from '../../components/content/copy-button.tsx'
import { TaskStateBadge } from '../../components/status/task-state.tsx'
import { EmptyState, Loading, ErrorNotice, WarningNote } from '../../components/status/error-notice.tsx'
import { RelativeTime } from '../../components/time.tsx'
import type { ChatSession } from './chat-session.ts'
import { Reply } from './reply.tsx'
import type { ConversationTask } from './conversation-tasks.ts'
import { conversationHref, playgroundParams } from './playground-params.ts'
import type { ProtocolLog } from './protocol/protocol-log.ts'
import { ChatScroll } from './chat-scroll.tsx'
import './chat.css'

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
  useEffect(() => {
    if (trouble !== undefined) onTrouble()
  }, [trouble])
  return (
    <div class="fill chat">
      <ChatScroll>
        {play.hasEarlier.value && (
          <p class="chat-earlier">
            <button type="button" class="small" onClick={() => play.loadEarlier()}>
              Show earlier tasks
            </button>
          </p>
        )}
        {slots.length === 0 && phase === 'loading' && <Loading what="the conversation" />}
        {slots.length === 0 && phase !== 'loading' && trouble === undefined && <AgentGreeting agent={agent} />}
        {slots.map((slot, index) => (
          <ChatTask key={slot.key} slot={slot} agent={agent} isBusy={phase !== 'still' && index === slots.length - 1} />
        ))}
      </ChatScroll>
      <div class="chat-foot">
        {trouble !== undefined && (
          <ErrorNotice reason={trouble.problem} {...(trouble.retry === undefined ? {} : { retry: trouble.retry })} />
        )}
        {about !== undefined && <AgentNotice agent={about} />}
        <Reply play={play} log={log} agent={agent} isOpen={about?.isOpen ?? false} />
      </div>
    </div>
  )
}

function ChatTask({
  slot,
  agent,
  isBusy,
}: {
  readonly slot: ConversationTask
  readonly agent: string
  readonly isBusy: boolean
}) {
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
          <span aria-hidden="true">◐</span> {agent} is working
        </p>
      )}
    </section>
  )
}

/** The growing text itself shows the progress. */
function isWriting({ transcript }: ConversationTask): boolean {
  const last = transcript.items.at(-1)
  return last?.kind === 'made' && !last.isWhole
}

const maxExamples = 4

/** Shown before the first message: the agent and its example prompts. */
function AgentGreeting({ agent }: { readonly agent: string }) {
  const card = useResource(agent, (signal) => callAdmin('getAgentCards', { params: { agent }, signal }))
  const { name, description, skills } = parseCard(card.value.value?.cards['1.0'])
  const examples = [...new Set(skills.flatMap((skill) => skill.examples))].slice(0, maxExamples)
  return (
    <EmptyState title={name ?? agent}>
      {description !== undefined && <p dir="auto">{description}</p>}
      {examples.length > 0 && (
        <ul class="greeting" aria-label="Examples">
          {examples.map((text) => (
            <li key={text}>
              <a class="button" href={conversationHref(agent, { text })}>
                <span class="cut" dir="auto">
                  {text}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {card.problem.value !== undefined && <p class="mistake">{card.problem.value.message}</p>}
    </EmptyState>
  )
}

/** Why the agent cannot take messages now: shown before the user writes one, and beside a message that failed. */
function AgentNotice({ agent }: { readonly agent: Agent }) {
  const { word, why } = agentStatus(agent)
  if (word === 'up' || word === 'slow') return null
  const { name, startError } = agent
  return (
    <WarningNote tone="failed">
      <p>
        {name} is {word}: {why ?? agentLastError(agent)?.text ?? 'the reason is not known'}
      </p>
      <p>
        {startError?.nextTryAt !== undefined && (
          <>
            The hub tries to open it again <RelativeTime at={startError.nextTryAt} />.{' '}
          </>
        )}
        <a href={agentPath(name)}>Open the agent</a>
      </p>
    </WarningNote>
  )
}
