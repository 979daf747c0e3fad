/** One webhook: its URL, progress, delivery attempts, and a button to redeliver. */
import { useSignal } from '@preact/signals'
import { callAdmin, adminPath, type AdminResponse } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { showToast } from '../../app/announce.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { query } from '../../app/router.ts'
import { ConfirmButton } from '../../components/layout/confirm-button.tsx'
import { CopyButton, CopyableId } from '../../components/content/copy-button.tsx'
import { DetailHead, Fact, FactList } from '../../components/layout/page-head.tsx'
import { StatusBadge } from '../../components/status/task-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { EmptyState, ErrorNotice, FailureNotice, Loading } from '../../components/status/error-notice.tsx'
import { adminCurl } from '../../components/shell/curl.ts'
import { DueTime } from './webhook-row.tsx'
import {
  deliveryAdvice,
  deliveryFailure,
  webhookFilters,
  webhookFilterSearch,
  splitWebhookUrl,
  webhookStatus,
  readableUrl,
  deliveryProgressText,
  statusExplanation,
} from './webhook-status.ts'
import { maxAttempts, DeliveryAttempts } from './delivery-attempts.tsx'

type Push = AdminResponse<'getPush'>

const initialAttempts = 50

export function WebhookDetail({ taskId, configId }: { readonly taskId: string; readonly configId: string }) {
  const most = useSignal(initialAttempts)
  const failure = useSignal<unknown>(undefined)
  const params = { taskId, configId }
  const found = useResource(
    `${taskId} ${configId} ${most.value}`,
    (signal) => callAdmin('getPush', { params, query: { limit: most.value }, signal }),
    (change) =>
      change.type === 'push' || change.type === 'task'
        ? taskId === (change.type === 'push' ? change.taskId : change.task.id)
        : change.type === 'tasks',
  )
  const back = `/webhooks${webhookFilterSearch(webhookFilters.read(query.value))}`
  const push = found.value.value

  async function redeliver(afterSeq?: number): Promise<void> {
    await callAdmin('redeliver', { params, body: afterSeq === undefined ? {} : { afterSeq } })
    showToast(afterSeq === undefined ? 'Redelivering' : 'Redelivering all events')
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
  useShortcuts([{ key: 'r', label: 'Redeliver', run: () => void tryAgain() }])
  usePaletteActions([{ title: 'Redeliver this webhook', run: () => void tryAgain() }])

  if (push === undefined) {
    const { value: problem } = found.problem
    return (
      <>
        <DetailHead title="Webhook" backTo={back} />
        {problem === undefined && <Loading what="the webhook" />}
        {problem?.code === 'NOT_FOUND' && (
          <EmptyState title="Webhook not found">
            <p>Its client deleted it, its receiver answered 410, or its task was deleted.</p>
            <a class="button" href={`/tasks/${encodeURIComponent(taskId)}`}>
              Open task
            </a>
          </EmptyState>
        )}
        {problem !== undefined && problem.code !== 'NOT_FOUND' && <ErrorNotice reason={problem} retry={found.reload} />}
      </>
    )
  }
  return (
    <div class="fill webhook-detail">
      <DetailHead title={splitWebhookUrl(push.url).host} backTo={back}>
        <StatusBadge {...webhookStatus(push)} />
        {deliveryFailure(push) === undefined && (
          <button type="button" class="small" title="Redeliver (r)" onClick={() => void tryAgain()}>
            Redeliver
          </button>
        )}
        <ConfirmButton
          label="Redeliver all events"
          question="Redeliver all events?"
          danger={false}
          class="small"
          onConfirm={() => redeliver(0)}
        >
          The receiver gets every event of the task again, with the same event ids. A receiver that ignores the ids
          counts them twice.
        </ConfirmButton>
        <CopyButton
          text={adminCurl(location.origin, adminPath('getPush', { params }))}
          label="Copy as curl"
          class="small"
        >
          curl
        </CopyButton>
      </DetailHead>
      <div class="scroll stack-wide webhook-body">
        {found.problem.value?.code === 'NOT_FOUND' ? (
          <p class="webhook-note">This webhook was deleted. You see its last state.</p>
        ) : (
          found.problem.value !== undefined && <ErrorNotice reason={found.problem.value} retry={found.reload} />
        )}
        {failure.value !== undefined && <ErrorNotice reason={failure.value} />}
        <DeliveryState push={push} onRedeliver={() => void tryAgain()} />
        <WebhookFacts push={push} />
        <DeliveryAttempts push={push} most={most.value} onMore={() => (most.value = maxAttempts)} />
      </div>
    </div>
  )
}

/** What failed and what to do, or what it does now. */
function DeliveryState({ push, onRedeliver }: { readonly push: Push; readonly onRedeliver: () => void }) {
  const failure = deliveryFailure(push)
  if (failure === undefined) return <p class="webhook-note">{statusExplanation(push)}</p>
  const { title, advice, tone } = failure
  const { outcome = '', answer } = push.last ?? {}
  const cause = [outcome, ...(answer === undefined ? [] : [answer])].join(': ')
  return (
    <FailureNotice
      isLive={false}
      tone={tone}
      title={title}
      cause={cause === '' ? undefined : cause}
      advice={[deliveryAdvice(outcome), advice].filter(Boolean).join(' ')}
      actions={
        <button type="button" class="small primary" title="Redeliver (r)" onClick={onRedeliver}>
          Redeliver
        </button>
      }
    />
  )
}

function WebhookFacts({ push }: { readonly push: Push }) {
  const { taskId, configId, url, agent, title, attempt, dueAt, createdAt, state } = push
  return (
    <FactList>
      <Fact name="URL">
        <span class="webhook-url mono">{readableUrl(url)}</span> <CopyButton text={url} label="Copy URL" />
      </Fact>
      <Fact name="Task">
        <a href={`/tasks/${encodeURIComponent(taskId)}`}>{title ?? taskId}</a>
      </Fact>
      <Fact name="Agent">
        <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
      </Fact>
      <Fact name="Progress">{deliveryProgressText(push)}</Fact>
      <Fact name="Next attempt">
        {state === 'active' && dueAt !== undefined ? <DueTime at={dueAt} /> : 'None scheduled'}
        {attempt > 0 && <span class="faint"> · {attempt} failed</span>}
      </Fact>
      {createdAt !== undefined && (
        <Fact name="Created">
          <RelativeTime at={createdAt} />
        </Fact>
      )}
      <Fact name="Id">
        <CopyableId id={configId} what="webhook id" />
      </Fact>
    </FactList>
  )
}
