/** One side of a comparison: the agent, its measurements and its live transcript. */
import { isInterrupted, isTerminal } from '@parley/a2a'
import { agentStatus } from '../../../agent/agent-status.ts'
import { AgentDownBanner } from '../../../agent/agent-down-banner.tsx'
import type { Agent } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { now, useResource } from '../../../api/resource.ts'
import { formatCost, formatCount, formatDuration } from '../../../components/format.ts'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { ChatFailureNotice } from '../chat-failure.tsx'
import { ChatScroll } from '../chat-scroll.tsx'
import type { ChatSession } from '../chat-session.ts'
import { answerTimes, type SeenTimes } from '../chat-timing.ts'
import { ChatTask } from '../chat.tsx'
import type { ConversationTask } from '../conversation-tasks.ts'
import { conversationHref } from '../playground-params.ts'
import type { ComparePlace, CompareSide } from './compare-params.ts'

const answers = { left: 'First answer', right: 'Second answer' }
const agentLabels = { left: 'First agent', right: 'Second agent' }

export interface CompareResultProps {
  readonly side: CompareSide
  readonly agents: readonly Agent[]
  readonly place: ComparePlace
  /** `undefined` until an agent is chosen. */
  readonly play: ChatSession | undefined
  readonly onChoose: (agent: string) => void
}

export function CompareResult({ side, agents, place: { agent }, play, onChoose }: CompareResultProps) {
  const tasks = play?.tasks.value ?? []
  const last = tasks.at(-1)
  const isBusy = play !== undefined && play.phase.value !== 'still'
  const about = agents.find(({ name }) => name === agent)
  return (
    <section class="fill compare-side" aria-label={agent === undefined ? answers[side] : `Result of ${agent}`}>
      <header class="stack-small compare-head">
        <div class="bar">
          <SelectField
            label={agentLabels[side]}
            value={agent ?? ''}
            options={[
              ...(agent === undefined ? [['', 'Choose an agent'] as const] : []),
              ...agents.map((one) => [one.name, optionText(one)] as const),
            ]}
            onChange={onChoose}
          />
          <span class="grow" />
          {last !== undefined && agent !== undefined && <ResultLinks agent={agent} task={last} />}
        </div>
        {last !== undefined && <Measurements task={last} seen={play?.times.value.get(last.key)} />}
        {about !== undefined && <AgentDownBanner agent={about} isLinked />}
      </header>
      <ChatScroll>
        {tasks.length === 0 && (
          <p class="faint">
            {agent === undefined ? 'Choose two agents to compare.' : 'Send a prompt to see both answers side by side.'}
          </p>
        )}
        {agent !== undefined &&
          tasks.map((slot, index) => (
            <ChatTask key={slot.key} slot={slot} agent={agent} isBusy={isBusy && index === tasks.length - 1} />
          ))}
        {last !== undefined && isInterrupted(last.transcript.state) && (
          <p class="compare-note">This agent needs input. Continue in the playground to reply.</p>
        )}
        {play?.failure.value !== undefined && <ChatFailureNotice failure={play.failure.value} />}
      </ChatScroll>
    </section>
  )
}

function optionText(agent: Agent): string {
  const { name, title } = agent
  const { word } = agentStatus(agent)
  const text = title === name ? name : `${title} (${name})`
  return word === 'up' || word === 'slow' ? text : `${text} · ${word}`
}

function ResultLinks({ agent, task }: { readonly agent: string; readonly task: ConversationTask }) {
  const { taskId, contextId } = task.transcript
  if (taskId === undefined) return null
  const context = contextId === undefined ? {} : { context: contextId }
  return (
    <>
      <a class="button small" href={`/tasks/${encodeURIComponent(taskId)}`}>
        Open task
      </a>
      <a class="button small" href={conversationHref(agent, { ...context, task: taskId })}>
        Continue in playground
      </a>
    </>
  )
}

function Measurements({
  task: { transcript },
  seen,
}: {
  readonly task: ConversationTask
  readonly seen: SeenTimes | undefined
}) {
  const { firstOutputMs, totalMs } = answerTimes(transcript, seen)
  const { taskId, state } = transcript
  const isDone = isTerminal(state)
  const usage = useResource(`usage ${taskId} ${isDone}`, async (signal) => {
    if (!isDone || taskId === undefined) return undefined
    const { traces } = await callAdmin('getTrace', { params: { id: taskId }, signal })
    return traces[0]?.summary
  })
  const { inputTokens = 0, outputTokens = 0, cost } = usage.value.value ?? {}
  // While it runs, the time so far.
  const elapsed = totalMs ?? (seen === undefined || isDone ? undefined : Math.max(0, now.value - seen.sentAt))
  return (
    <dl class="compare-facts" aria-label="Measurements">
      <Measurement name="Time to first token" value={durationText(firstOutputMs)} />
      <Measurement name="Total time" value={durationText(elapsed)} />
      {inputTokens + outputTokens > 0 && (
        <Measurement name="Tokens" value={`${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`} />
      )}
      {cost !== undefined && cost > 0 && <Measurement name="Cost" value={formatCost(cost)} />}
    </dl>
  )
}

function durationText(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms)
}

function Measurement({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
