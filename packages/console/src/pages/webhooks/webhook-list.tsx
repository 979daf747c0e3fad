/** The matching webhooks, newest first. */
import { useRef } from 'preact/hooks'
import type { PushSummary } from '../../api/admin.ts'
import { useExampleAgent } from '../../api/agents.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { usePagedList } from '../../api/use-paged-list.ts'
import type { PagedList } from '../../api/paged-list.ts'
import { showToast } from '../../app/announce.ts'
import { navigate, setQuery } from '../../app/router.ts'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { ConfirmButton } from '../../components/layout/confirm-button.tsx'
import { useListShortcuts } from '../../components/list/list-shortcuts.ts'
import { NewItemsButton, EmptyList } from '../../components/list/list-states.tsx'
import { AgentSelect, SearchField } from '../../components/filters/filter-fields.tsx'
import { setFilters } from '../../components/filters/url-filters.ts'
import { SegmentedControl } from '../../components/layout/tabs.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../components/status/error-notice.tsx'
import { VirtualList } from '../../components/list/virtual-list.tsx'
import { pluralize } from '../../components/format.ts'
import { WebhookRow } from './webhook-row.tsx'
import { webhookFilters, webhookFilterSearch, webhookHref, webhookCurl, type WebhookFilters } from './webhook-status.ts'

const keyOf = ({ taskId, configId }: PushSummary): string => `${taskId} ${configId}`

export function WebhookList({
  filters,
  selected,
}: {
  readonly filters: WebhookFilters
  readonly selected: string | undefined
}) {
  const frame = useRef<HTMLDivElement>(null)
  const list = usePagedList<PushSummary>(JSON.stringify(filters), () => ({
    keyOf,
    async load(before, signal) {
      const asked = { ...setFilters(filters), limit: 100, before: before === undefined ? before : Number(before) }
      const page = await callAdmin('listPush', { query: asked, signal })
      return { items: page.push, before: page.before }
    },
    onChange(change, { items, scheduleRefresh }) {
      const isOfTask = ({ taskId }: PushSummary): boolean => change.type === 'task' && taskId === change.task.id
      if (change.type === 'push' || change.type === 'tasks' || items.peek()?.some(isOfTask) === true) scheduleRefresh()
    },
  }))
  const push = list.items.value ?? []
  const at = push.findIndex((one) => keyOf(one) === selected)
  const hrefOf = (one: PushSummary): string => webhookHref(one, webhookFilterSearch(filters))
  const { cursor } = useListShortcuts({
    items: push,
    keyOf,
    noun: 'webhook',
    at,
    frame,
    idOf: ({ taskId }) => taskId,
    open: (one) => navigate(hrefOf(one), { replace: selected !== undefined }),
    close: selected === undefined ? undefined : () => navigate(`/webhooks${webhookFilterSearch(filters)}`),
  })
  const { value: problem } = list.problem
  const isOff = problem?.code === 'UNAVAILABLE'

  return (
    <div ref={frame} class="fill listing webhook-list">
      <WebhookFilterBar filters={filters} />
      {filters.state === 'dead' && push.length > 0 && <DeadLetterNotice push={push} list={list} />}
      {isOff && (
        <EmptyState title="Webhooks are switched off">
          <p>
            Set <code>push: true</code> in the configuration, and clients may name a webhook for their tasks.
          </p>
          <a class="button" href="/settings/config">
            Open the configuration
          </a>
        </EmptyState>
      )}
      {problem !== undefined && !isOff && <ErrorNotice reason={problem} retry={list.refresh} />}
      {list.items.value === undefined && problem === undefined && <Loading what="webhooks" />}
      {list.items.value !== undefined && push.length === 0 && !isOff && <NoWebhooks filters={filters} list={list} />}
      {push.length > 0 && (
        <>
          <div class="listing-line listing-head webhook-line" aria-hidden="true">
            <span>State</span>
            <span>Webhook and task</span>
            <span class="webhook-wide">Delivered</span>
            <span class="webhook-wide">Last answer</span>
            <span class="webhook-wide">Next try</span>
            <span class="webhook-number">Made</span>
          </div>
          <NewItemsButton list={list} frame={frame} />
          <VirtualList
            label="Webhooks"
            items={push}
            rowHeight={56}
            keyOf={keyOf}
            selected={cursor}
            onEnd={list.continueSearch}
            onTop={list.setAtTop}
            row={(one, index) => <WebhookRow push={one} id={keyOf(one)} href={hrefOf(one)} isSelected={index === at} />}
          />
        </>
      )}
    </div>
  )
}

function WebhookFilterBar({ filters }: { readonly filters: WebhookFilters }) {
  return (
    <search class="bar toolbar" aria-label="Filter the webhooks">
      <SegmentedControl
        label="State"
        value={filters.state}
        options={[
          ['', 'All'],
          ['active', 'Active'],
          ['dead', 'Dead letters'],
          ['done', 'Done'],
        ]}
        onChange={(state) => setQuery({ state })}
      />
      <SearchField
        label="Filter by text"
        placeholder="Address, id, message or answer"
        value={filters.text}
        onChange={(text) => setQuery({ text })}
      />
      <AgentSelect value={filters.agent} anyText="Any agent" onChange={(agent) => setQuery({ agent })} />
    </search>
  )
}

function DeadLetterNotice({
  push,
  list,
}: {
  readonly push: readonly PushSummary[]
  readonly list: PagedList<PushSummary>
}) {
  async function redeliverAll(): Promise<void> {
    for (const { taskId, configId } of push) await callAdmin('redeliver', { params: { taskId, configId } })
    showToast(`Trying ${pluralize(push.length, 'webhook')} again`)
    list.refresh()
  }
  return (
    <div class="webhook-about">
      <p>
        These were given up: every try failed, or the receiver refused an event. Each rests at the first event that it
        did not take, and nothing is lost. Fix the receiver, then redeliver.
      </p>
      <ConfirmButton
        label="Redeliver all"
        question={`Redeliver ${pluralize(push.length, 'webhook')}?`}
        danger={false}
        class="small"
        onConfirm={redeliverAll}
      >
        Each resumes with the first undelivered event. Webhooks that fail again reappear here.
      </ConfirmButton>
    </div>
  )
}

function NoWebhooks({ filters, list }: { readonly filters: WebhookFilters; readonly list: PagedList<PushSummary> }) {
  const agent = useExampleAgent()
  const wantsDead = filters.state === 'dead' && filters.agent === '' && filters.text === ''
  return (
    <EmptyList
      list={list}
      what="webhook"
      filters={webhookFilters.names}
      isFiltered={webhookFilterSearch(filters) !== '' && !wantsDead}
    >
      {wantsDead ? (
        <EmptyState title="No dead letters">
          <p>
            Every webhook was delivered, or is still being tried: after 1 s, 5 s, 30 s and so on, for some hours. What
            is given up after that stands here.
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="No webhooks yet">
          <p>A client that does not want to wait names a webhook, and the hub posts to it what happens to the task.</p>
          {agent !== undefined && (
            <CodeBlock text={webhookCurl(location.origin, agent)} label="a message with a webhook" wrap />
          )}
        </EmptyState>
      )}
    </EmptyList>
  )
}
