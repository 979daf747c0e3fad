/** Two tasks side by side, as they happen: where each stands, what it took, and what they made of the same message. */
import type { TaskDetail, Trace } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { useKeys } from '../../app/keys.ts'
import { go } from '../../app/router.ts'
import { Copy, Id } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { isOver, State } from '../../parts/state.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { count, duration } from '../../parts/words.ts'
import { pairsOf } from './compare-tasks.ts'
import type { Pair } from './compare-tasks.ts'
import { DiffView } from './diff-view.tsx'
import { playgroundHref } from './task-head.tsx'
import { taskHref } from './task-places.ts'
import { titleOf, Took } from './task-row.tsx'
import { taskIn, useTask } from './use-task.ts'
import type { KnownTask } from './use-task.ts'
import './compare-page.css'

export function ComparePage({ id, other }: { readonly id: string; readonly other: string }) {
  const left = useTask(id)
  const right = useTask(other)
  const back = taskHref(id)
  useKeys([{ key: 'Escape', does: 'Back to the task', run: () => go(back) }])
  return (
    <>
      <PageHead title="Compare" backTo={back}>
        <Copy text={() => location.href} label="Copy the link" class="small">
          Copy link
        </Copy>
      </PageHead>
      <div class="compare">
        <div class="compare-two">
          <Side known={left} id={id} label="Before" versus={right.detail} />
          <Side known={right} id={other} label="Again" versus={left.detail} />
        </div>
        {left.detail !== undefined && right.detail !== undefined && <Results left={left.detail} right={right.detail} />}
      </div>
    </>
  )
}

interface SideProps {
  readonly known: KnownTask
  readonly id: string
  readonly label: string
  readonly versus: TaskDetail | undefined
}

function Side({ known: { detail, problem, reload }, id, label, versus }: SideProps) {
  if (detail === undefined) {
    return (
      <section class="compare-side" aria-label={label}>
        {problem === undefined ? <Loading what="the task" /> : <Trouble reason={problem} retry={reload} />}
      </section>
    )
  }
  const { agent, state, durationMs } = detail
  const faster = durationMs !== undefined && versus?.durationMs !== undefined ? versus.durationMs - durationMs : 0
  return (
    <section class="compare-side" aria-label={`${label}: ${agent}`}>
      <header class="row">
        <State state={state} />
        <h2 class="cut grow">{agent}</h2>
        <Id id={id} what="task id" href={taskHref(id)} />
      </header>
      <p class="cut soft" title={titleOf(detail)}>
        {titleOf(detail)}
      </p>
      <dl class="compare-facts">
        <div>
          <dt>took</dt>
          <dd>
            <Took task={detail} />
            {faster > 0 && <span class="faint"> {duration(faster)} less</span>}
          </dd>
        </div>
        <div>
          <dt>events</dt>
          <dd>{count(detail.head)}</dd>
        </div>
        <Spent detail={detail} />
      </dl>
      {state.endsWith('_REQUIRED') && (
        <p class="compare-waits">
          It waits for an answer. <a href={playgroundHref(detail)}>Answer in the playground</a>
        </p>
      )}
    </section>
  )
}

/** Tokens and money, where models or those who call them said so. */
function Spent({ detail: { id, traceId, state } }: { readonly detail: TaskDetail }) {
  const resource = useResource(
    `what ${id} spent ${state}`,
    async (signal) =>
      (await call('getTrace', { params: { id: traceId }, signal })).traces.map(({ summary }) => summary),
    (change) => change.type === 'task' && change.task.id === id,
  )
  const summary = resource.value.value?.find(({ taskId }) => taskId === id)
  if (summary === undefined || tokensOf(summary) === 0) return null
  return (
    <>
      <div>
        <dt>tokens</dt>
        <dd>
          {count(tokensOf(summary))}{' '}
          <span class="faint">
            {count(summary.inputTokens)} in, {count(summary.outputTokens)} out
          </span>
        </dd>
      </div>
      {summary.cost !== undefined && (
        <div>
          <dt>cost</dt>
          <dd>{summary.cost.toPrecision(3)}</dd>
        </div>
      )}
    </>
  )
}

function tokensOf({ inputTokens, outputTokens }: Trace): number {
  return inputTokens + outputTokens
}

function Results({ left, right }: { readonly left: TaskDetail; readonly right: TaskDetail }) {
  const pairs = pairsOf(taskIn(left), taskIn(right))
  const isGoingOn = [left, right].some(({ state }) => !isOver(state))
  if (pairs.length === 0) {
    return isGoingOn ? <Loading what="the answers" /> : <Empty title="Neither of them said anything" />
  }
  return (
    <>
      {pairs.map((pair) => (
        <PairView key={pair.name} pair={pair} />
      ))}
    </>
  )
}

function PairView({ pair: { name, left, right } }: { readonly pair: Pair }) {
  const word =
    left === undefined ? 'only the second' : right === undefined ? 'only the first' : left === right ? 'the same' : ''
  return (
    <section class="compare-pair" aria-label={name}>
      <header class="row">
        <h3 class="cut">{name}</h3>
        <span class="faint">{word}</span>
      </header>
      <DiffView left={left ?? ''} right={right ?? ''} />
    </section>
  )
}
