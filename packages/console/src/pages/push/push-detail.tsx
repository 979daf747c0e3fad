/** One webhook: where it is, how far it was told, what became of each try; and another try. */
import { useSignal } from '@preact/signals'
import type { AnswerOf } from '../../api/call.ts'
import { call, pathOf } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { tell } from '../../app/announce.ts'
import { useKeys } from '../../app/keys.ts'
import { useActions } from '../../app/palette-state.ts'
import { query } from '../../app/router.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy, Id } from '../../parts/copy.tsx'
import { DetailHead, Fact, Facts } from '../../parts/sheet.tsx'
import { Mark } from '../../parts/state.tsx'
import { Ago, Clock } from '../../parts/time.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { duration } from '../../parts/words.ts'
import { asCurl } from '../tasks/as-curl.ts'
import { Answer, Due } from './push-row.tsx'
import {
  adviceOn,
  filtersIn,
  filterText,
  isWell,
  placeOf,
  pushLook,
  readable,
  toldWords,
  whyWords,
} from './push-words.ts'

type Push = AnswerOf<'getPush'>

const fewAttempts = 50
const mostAttempts = 500

export function PushDetail({ taskId, configId }: { readonly taskId: string; readonly configId: string }) {
  const most = useSignal(fewAttempts)
  const failure = useSignal<unknown>(undefined)
  const params = { taskId, configId }
  const found = useResource(
    `${taskId} ${configId} ${most.value}`,
    (signal) => call('getPush', { params, query: { limit: most.value }, signal }),
    (change) =>
      change.type === 'push' || change.type === 'task'
        ? taskId === (change.type === 'push' ? change.taskId : change.task.id)
        : change.type === 'tasks',
  )
  const back = `/push${filterText(filtersIn(query.value))}`
  const push = found.value.value

  async function redeliver(afterSeq?: number): Promise<void> {
    await call('redeliver', { params, body: afterSeq === undefined ? {} : { afterSeq } })
    tell(afterSeq === undefined ? 'Trying again' : 'Sending everything again')
    found.reload()
  }
  async function tryAgain(): Promise<void> {
    failure.value = undefined
    try {
      await redeliver()
    } catch (reason) {
      failure.value = reason
    }
  }
  useKeys([{ key: 'r', does: 'Redeliver', run: () => void tryAgain() }])
  useActions([{ title: 'Redeliver this webhook', run: () => void tryAgain() }])

  if (push === undefined) {
    const { value: problem } = found.problem
    return (
      <>
        <DetailHead title="Webhook" backTo={back} />
        {problem === undefined && <Loading what="the webhook" />}
        {problem?.code === 'NOT_FOUND' && (
          <Empty title="There is no such webhook">
            <p>Its client has deleted it, the receiver answered 410, or its task is gone.</p>
            <a class="button" href={`/tasks/${encodeURIComponent(taskId)}`}>
              Open the task
            </a>
          </Empty>
        )}
        {problem !== undefined && problem.code !== 'NOT_FOUND' && <Trouble reason={problem} retry={found.reload} />}
      </>
    )
  }
  return (
    <div class="push-detail">
      <DetailHead title={placeOf(push.url).host} backTo={back}>
        <Mark {...pushLook(push)} />
        <button type="button" class="small primary" title="Redeliver (r)" onClick={() => void tryAgain()}>
          Redeliver
        </button>
        <Confirm
          label="From the beginning"
          question="Send everything from the beginning?"
          danger={false}
          class="small"
          does={() => redeliver(0)}
        >
          The receiver gets every event of the task once more, with the ids that it knows. One that keeps no ids will
          count them twice.
        </Confirm>
        <Copy text={asCurl(location.origin, pathOf('getPush', { params }))} label="Copy as curl" class="small">
          curl
        </Copy>
      </DetailHead>
      <div class="scroll push-body">
        {found.problem.value?.code === 'NOT_FOUND' ? (
          <p class="push-note">This webhook is gone by now. What you see is how it last was.</p>
        ) : (
          found.problem.value !== undefined && <Trouble reason={found.problem.value} retry={found.reload} />
        )}
        {failure.value !== undefined && <Trouble reason={failure.value} />}
        <p class={push.state === 'dead' ? 'push-note dead' : 'push-note'}>
          {whyWords(push)} {push.last !== undefined && !isWell(push.last.outcome) && adviceOn(push.last.outcome)}
        </p>
        <About push={push} />
        <Attempts push={push} most={most.value} onMore={() => (most.value = mostAttempts)} />
      </div>
    </div>
  )
}

function About({ push }: { readonly push: Push }) {
  const { taskId, configId, url, agent, title, attempt, dueAt, createdAt, state } = push
  return (
    <Facts>
      <Fact name="Address">
        <span class="push-url mono">{readable(url)}</span> <Copy text={url} label="Copy the address" />
      </Fact>
      <Fact name="Task">
        <a href={`/tasks/${encodeURIComponent(taskId)}`}>{title ?? taskId}</a>
      </Fact>
      <Fact name="Agent">
        <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
      </Fact>
      <Fact name="Told">{toldWords(push)}</Fact>
      <Fact name="Next try">
        {state === 'active' && dueAt !== undefined ? <Due at={dueAt} /> : 'none is due'}
        {attempt > 0 && <span class="faint"> · {attempt === 1 ? 'one has failed' : `${attempt} have failed`}</span>}
      </Fact>
      {createdAt !== undefined && (
        <Fact name="Made">
          <Ago at={createdAt} />
        </Fact>
      )}
      <Fact name="Id">
        <Id id={configId} what="the id of the webhook" />
      </Fact>
    </Facts>
  )
}

function Attempts({ push, most, onMore }: { readonly push: Push; readonly most: number; readonly onMore: () => void }) {
  const { attempts, taskId } = push
  if (attempts.length === 0) return <p class="push-note">Nothing was sent yet.</p>
  return (
    <section class="push-attempts" aria-labelledby="push-attempts">
      <h3 id="push-attempts">Tries, the newest first</h3>
      <table class="data">
        <thead>
          <tr>
            <th>When</th>
            <th>Answer</th>
            <th class="push-number">Took</th>
            <th class="push-number">Event</th>
            <th class="push-number">Try</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map(({ at, outcome, answer, durationMs, seq, attempt }) => (
            <tr key={`${at} ${seq}`}>
              <td>
                <Clock at={at} />{' '}
                <span class="faint push-ago">
                  <Ago at={at} />
                </span>
              </td>
              <td>
                <span aria-hidden="true">{isWell(outcome) ? '● ' : '✕ '}</span>
                <Answer outcome={outcome} />
                {answer !== undefined && <q class="push-said">{answer}</q>}
              </td>
              <td class="push-number">{duration(durationMs)}</td>
              <td class="push-number">
                <a href={`/tasks/${encodeURIComponent(taskId)}/events?event=${seq}`}>{seq}</a>
              </td>
              <td class="push-number">{attempt}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {attempts.length >= most && most < mostAttempts && (
        <button type="button" class="small" onClick={onMore}>
          Show older tries
        </button>
      )}
    </section>
  )
}
