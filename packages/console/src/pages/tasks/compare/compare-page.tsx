/** Two tasks side by side, live: state, duration, cost and results. */
import type { TaskDetail } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { CopyButton, CopyableId } from '../../../components/content/copy-button.tsx'
import { Fact, PageHead } from '../../../components/layout/page-head.tsx'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { TaskDuration } from '../../../components/status/task-time.tsx'
import { taskTimes } from '../../../components/status/task-times.ts'
import { formatCost, formatCount, formatDuration } from '../../../components/format.ts'
import { pairResults, type ResultPair } from './compare-tasks.ts'
import { TextDiffView } from '../../../components/diff/text-diff-view.tsx'
import { taskHref, taskPlaygroundHref } from '../task-links.ts'
import { taskTitle } from '../list/task-row.tsx'
import { a2aTaskOf, useTask, type TaskResource } from '../detail/use-task.ts'
import './compare-page.css'

export function ComparePage({ id, other }: { readonly id: string; readonly other: string }) {
  const left = useTask(id)
  const right = useTask(other)
  const back = taskHref(id)
  useShortcuts([{ key: 'Escape', label: 'Back to the task', run: () => navigate(back) }])
  return (
    <>
      <PageHead title="Compare" backTo={back}>
        <CopyButton text={() => location.href} label="Copy link" class="small">
          Copy link
        </CopyButton>
      </PageHead>
      <div class="compare">
        <div class="compare-two">
          <ComparedTask known={left} id={id} label="First task" versus={right.detail} />
          <ComparedTask known={right} id={other} label="Second task" versus={left.detail} />
        </div>
        {left.detail !== undefined && right.detail !== undefined && (
          <ResultPairs left={left.detail} right={right.detail} />
        )}
      </div>
    </>
  )
}

interface ComparedTaskProps {
  readonly known: TaskResource
  readonly id: string
  readonly label: string
  readonly versus: TaskDetail | undefined
}

function ComparedTask({ known: { detail, problem, reload }, id, label, versus }: ComparedTaskProps) {
  if (detail === undefined) {
    return (
      <section class="stack-small compare-side" aria-label={label}>
        {problem === undefined ? <Loading what="task" shape="text" /> : <ErrorNotice reason={problem} retry={reload} />}
      </section>
    )
  }
  const { agent, state } = detail
  const faster = isEnded(detail) && isEnded(versus) ? workingMs(versus) - workingMs(detail) : 0
  return (
    <section class="stack-small compare-side" aria-label={`${label}: ${agent}`}>
      <header class="row">
        <TaskStateBadge state={state} />
        <h2 class="cut grow">{agent}</h2>
        <CopyableId id={id} what="task id" href={taskHref(id)} />
      </header>
      <p class="cut soft" title={taskTitle(detail)}>
        {taskTitle(detail)}
      </p>
      <dl class="compare-facts">
        <Fact name="Duration">
          <TaskDuration task={detail} />
          {faster > 0 && <span class="faint">{` ${formatDuration(faster)} less`}</span>}
        </Fact>
        <Fact name="Events">{formatCount(detail.head)}</Fact>
        <TaskCost detail={detail} />
      </dl>
      {state.endsWith('_REQUIRED') && (
        <p class="compare-waits">
          {'Waiting for an answer. '}
          <a href={taskPlaygroundHref(detail)}>Answer in playground</a>
        </p>
      )}
    </section>
  )
}

function isEnded(detail: TaskDetail | undefined): detail is TaskDetail {
  return detail?.durationMs !== undefined
}

function workingMs(detail: TaskDetail): number {
  return taskTimes(detail, 0).workingMs
}

/** Tokens and cost, if the agents or models reported them. */
function TaskCost({ detail: { id, traceId, state } }: { readonly detail: TaskDetail }) {
  const resource = useResource(
    `what ${id} spent ${state}`,
    async (signal) =>
      (await callAdmin('getTrace', { params: { id: traceId }, signal })).traces.map(({ summary }) => summary),
    (change) => change.type === 'task' && change.task.id === id,
  )
  const summary = resource.value.value?.find(({ taskId }) => taskId === id)
  const tokens = (summary?.inputTokens ?? 0) + (summary?.outputTokens ?? 0)
  if (summary === undefined || tokens === 0) return null
  return (
    <>
      <Fact name="Tokens">
        {formatCount(tokens)}{' '}
        <span class="faint">
          {formatCount(summary.inputTokens)} in, {formatCount(summary.outputTokens)} out
        </span>
      </Fact>
      {summary.cost !== undefined && <Fact name="Cost">{formatCost(summary.cost)}</Fact>}
    </>
  )
}

function ResultPairs({ left, right }: { readonly left: TaskDetail; readonly right: TaskDetail }) {
  const pairs = pairResults(a2aTaskOf(left), a2aTaskOf(right))
  const isGoingOn = [left, right].some(({ state }) => !isTerminalState(state))
  if (pairs.length === 0) {
    return isGoingOn ? <Loading what="answers" /> : <EmptyState title="Neither task has an answer" />
  }
  return (
    <>
      {pairs.map((pair) => (
        <PairView key={pair.name} pair={pair} />
      ))}
    </>
  )
}

function PairView({ pair: { name, left, right } }: { readonly pair: ResultPair }) {
  const word =
    left === undefined
      ? 'only in the second task'
      : right === undefined
        ? 'only in the first task'
        : left === right
          ? 'identical'
          : ''
  return (
    <section class="compare-pair" aria-label={name}>
      <header class="row">
        <h3 class="cut">{name}</h3>
        <span class="faint">{word}</span>
      </header>
      <TextDiffView left={left ?? ''} right={right ?? ''} />
    </section>
  )
}
