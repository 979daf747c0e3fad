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
import { webhooksStrings } from './strings.ts'
import { maxAttempts, DeliveryAttempts } from './delivery-attempts.tsx'

type Push = AdminResponse<'getPush'>

const words = webhooksStrings.detail

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
    showToast(afterSeq === undefined ? words.redelivering : words.redeliveringAll)
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
  useShortcuts([{ key: 'r', label: words.redeliver, run: () => void tryAgain() }])
  usePaletteActions([{ title: words.redeliverAction, run: () => void tryAgain() }])

  if (push === undefined) {
    const { value: problem } = found.problem
    return (
      <>
        <DetailHead title={words.title} backTo={back} />
        {problem === undefined && <Loading what={words.loading} />}
        {problem?.code === 'NOT_FOUND' && (
          <EmptyState title={words.notFound}>
            <p>{words.notFoundHint}</p>
            <a class="button" href={`/tasks/${encodeURIComponent(taskId)}`}>
              {words.openTask}
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
          <button type="button" class="small" title={words.redeliverTitle} onClick={() => void tryAgain()}>
            {words.redeliver}
          </button>
        )}
        <ConfirmButton
          label={words.fromStart}
          question={words.fromStartQuestion}
          danger={false}
          class="small"
          onConfirm={() => redeliver(0)}
        >
          {words.fromStartHint}
        </ConfirmButton>
        <CopyButton
          text={adminCurl(location.origin, adminPath('getPush', { params }))}
          label={words.copyCurl}
          class="small"
        >
          {webhooksStrings.curl}
        </CopyButton>
      </DetailHead>
      <div class="scroll webhook-body">
        {found.problem.value?.code === 'NOT_FOUND' ? (
          <p class="webhook-note">{words.deleted}</p>
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
        <button type="button" class="small primary" title={words.redeliverTitle} onClick={onRedeliver}>
          {words.redeliver}
        </button>
      }
    />
  )
}

function WebhookFacts({ push }: { readonly push: Push }) {
  const { taskId, configId, url, agent, title, attempt, dueAt, createdAt, state } = push
  return (
    <FactList>
      <Fact name={words.url}>
        <span class="webhook-url mono">{readableUrl(url)}</span> <CopyButton text={url} label={words.copyUrl} />
      </Fact>
      <Fact name={words.task}>
        <a href={`/tasks/${encodeURIComponent(taskId)}`}>{title ?? taskId}</a>
      </Fact>
      <Fact name={words.agent}>
        <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
      </Fact>
      <Fact name={words.progress}>{deliveryProgressText(push)}</Fact>
      <Fact name={words.next}>
        {state === 'active' && dueAt !== undefined ? <DueTime at={dueAt} /> : words.noNext}
        {attempt > 0 && <span class="faint"> · {words.failed(attempt)}</span>}
      </Fact>
      {createdAt !== undefined && (
        <Fact name={words.created}>
          <RelativeTime at={createdAt} />
        </Fact>
      )}
      <Fact name={words.id}>
        <CopyableId id={configId} what={words.idName} />
      </Fact>
    </FactList>
  )
}
