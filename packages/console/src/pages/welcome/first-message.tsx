/** Sends a first message to one of the agents, and shows its streamed answer and its task. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Agent, TaskSummary } from '../../api/admin.ts'
import { toProblem } from '../../api/problem.ts'
import { announce } from '../../app/announce.ts'
import { query, setQuery } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { TaskStateBadge } from '../../components/status/task-state.tsx'
import { ErrorNotice } from '../../components/status/error-notice.tsx'
import { playgroundPath } from '../../agent/agent-path.ts'
import { appendStreamEvent, emptyStreamText, streamMessage } from './stream-message.ts'
import './first-message.css'
import { formatDuration } from '../../components/format.ts'

export interface FirstMessageProps {
  readonly agents: readonly Agent[]
  /** The newest tasks of the hub. */
  readonly tasks: readonly TaskSummary[]
}

interface SentMessage {
  readonly agent: string
  readonly text: string
}

export function FirstMessage({ agents, tasks }: FirstMessageProps) {
  const chosen = agents.find(({ name }) => name === query.value.get('agent')) ?? agents.find(isReady) ?? agents[0]
  const text = useSignal(query.value.get('text') ?? 'Hello')
  const sent = useSignal<SentMessage | undefined>(undefined)
  const received = useSignal(emptyStreamText)
  const reason = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const wished = query.value.get('text')
  useEffect(() => {
    if (wished !== null) text.value = wished
  }, [wished])
  if (chosen === undefined) return null

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (chosen === undefined || text.value.trim() === '') return
    running.current?.abort()
    const mine = (running.current = new AbortController())
    sent.value = { agent: chosen.title, text: text.value }
    received.value = emptyStreamText
    reason.value = undefined
    isBusy.value = true
    try {
      for await (const one of streamMessage(chosen.name, text.value, mine.signal))
        received.value = appendStreamEvent(received.value, one)
      announce(`${chosen.title} replied: ${received.value.text.slice(0, 200)}`)
    } catch (thrown) {
      if (mine.signal.aborted) return
      reason.value = toProblem(thrown)
    }
    isBusy.value = false
  }

  return (
    <div class="stack first">
      <form class="first-form" onSubmit={(event) => void send(event)}>
        <select
          aria-label="Agent"
          value={chosen.name}
          onChange={(event) => setQuery({ agent: event.currentTarget.value, text: undefined })}
        >
          {agents.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
        <input
          type="text"
          class="grow"
          aria-label="Message"
          dir="auto"
          autocomplete="off"
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy.value || text.value.trim() === ''}>
          <Icon name="send" /> Send
        </button>
      </form>
      {sent.value !== undefined && (
        <div class="stack-small first-talk panel">
          <p class="first-said">
            <span class="label">You</span>
            <span class="first-words" dir="auto">
              {sent.value.text}
            </span>
          </p>
          <p class="first-said">
            <span class="label cut">{sent.value.agent}</span>
            <span class="first-words" dir="auto">
              {received.value.text || (isBusy.value ? '…' : '')}
            </span>
          </p>
          {reason.value !== undefined && <ErrorNotice reason={reason.value} />}
          <TaskLine taskId={received.value.taskId} tasks={tasks} agent={chosen.name} />
        </div>
      )}
    </div>
  )
}

function isReady({ status }: Agent): boolean {
  return status.state === 'up'
}

interface TaskLineProps {
  readonly taskId: string | undefined
  readonly tasks: readonly TaskSummary[]
  readonly agent: string
}

/** The task as the hub lists it. */
function TaskLine({ taskId, tasks, agent }: TaskLineProps) {
  const task = tasks.find(({ id }) => id === taskId)
  if (task === undefined) return null
  return (
    <p class="first-task">
      <TaskStateBadge state={task.state} />
      <span class="soft">
        {task.durationMs === undefined
          ? 'Your task is in the log.'
          : `Your task is in the log, finished in ${formatDuration(task.durationMs)}.`}
      </span>
      <a href={`/tasks/${task.id}`}>Show all events</a>
      <a href={playgroundPath(agent)}>Continue in the playground</a>
    </p>
  )
}
