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
import { EmptyState, ErrorNotice, FailureNotice, Loading } from '../../components/status/error-notice.tsx'
import { VirtualList } from '../../components/list/virtual-list.tsx'
import { WebhookRow } from './webhook-row.tsx'
import { webhookFilters, webhookFilterSearch, webhookHref, webhookCurl, type WebhookFilters } from './webhook-status.ts'
import { pluralize } from '../../components/format.ts'

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
    <div ref={frame} class="fill webhook-list">
      <WebhookFilterBar filters={filters} />
      {filters.state === 'dead' && push.length > 0 && <DeadLetterNotice push={push} list={list} />}
      {isOff && (
        <EmptyState title="Webhooks are turned off">
          <p>
            Set <code>push: true</code> in the configuration to let clients register webhooks for their tasks.
          </p>
          <a class="button" href="/settings/config">
            Open configuration
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
            <span class="webhook-wide">Progress</span>
            <span class="webhook-wide">Last response</span>
            <span class="webhook-wide">Next attempt</span>
            <span class="number">Created</span>
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
    <search class="bar toolbar" aria-label="Filter webhooks">
      <SegmentedControl
        label="State"
        value={filters.state}
        options={[
          ['', 'All'],
          ['active', 'Active'],
          ['dead', 'Undeliverable'],
          ['done', 'Done'],
        ]}
        onChange={(state) => setQuery({ state })}
      />
      <SearchField
        label="Filter by text"
        placeholder="URL, id, message or response"
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
    showToast(`Redelivering ${pluralize(push.length, 'webhook')}`)
    list.refresh()
  }
  return (
    <FailureNotice
      isLive={false}
      title={`${pluralize(push.length, 'webhook')} stopped after failed deliveries`}
      advice="Events are queued in order, and none is lost. Fix the receivers, then redeliver."
      actions={
        <ConfirmButton
          label="Redeliver all"
          question={`Redeliver ${pluralize(push.length, 'webhook')}?`}
          danger={false}
          class="small"
          onConfirm={redeliverAll}
        >
          Each webhook resumes with its first undelivered event. Those that fail again return to this list.
        </ConfirmButton>
      }
    />
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
        <EmptyState title="No undeliverable webhooks">
          <p>
            Webhooks whose deliveries keep failing appear here. The hub retries after 1 s, 5 s, 30 s and so on for some
            hours.
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="No webhooks yet">
          <p>Clients register a webhook with a message. The hub then posts each event of the task to it.</p>
          {agent !== undefined && (
            <CodeBlock text={webhookCurl(location.origin, agent)} label="a message with a webhook" wrap />
          )}
        </EmptyState>
      )}
    </EmptyList>
  )
}
