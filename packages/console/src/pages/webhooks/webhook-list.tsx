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
import { webhooksStrings } from './strings.ts'
import { WebhookRow } from './webhook-row.tsx'
import { webhookFilters, webhookFilterSearch, webhookHref, webhookCurl, type WebhookFilters } from './webhook-status.ts'

const { list: words, dead, empty } = webhooksStrings

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
    noun: words.item,
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
        <EmptyState title={webhooksStrings.disabled.title}>
          <p>
            {webhooksStrings.disabled.hint[0]} <code>push: true</code> {webhooksStrings.disabled.hint[1]}
          </p>
          <a class="button" href="/settings/config">
            {webhooksStrings.disabled.open}
          </a>
        </EmptyState>
      )}
      {problem !== undefined && !isOff && <ErrorNotice reason={problem} retry={list.refresh} />}
      {list.items.value === undefined && problem === undefined && <Loading what={words.loading} />}
      {list.items.value !== undefined && push.length === 0 && !isOff && <NoWebhooks filters={filters} list={list} />}
      {push.length > 0 && (
        <>
          <div class="listing-line listing-head webhook-line" aria-hidden="true">
            <span>{words.columns.state}</span>
            <span>{words.columns.webhook}</span>
            <span class="webhook-wide">{words.columns.delivered}</span>
            <span class="webhook-wide">{words.columns.response}</span>
            <span class="webhook-wide">{words.columns.next}</span>
            <span class="webhook-number">{words.columns.created}</span>
          </div>
          <NewItemsButton list={list} frame={frame} />
          <VirtualList
            label={words.label}
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
    <search class="bar toolbar" aria-label={words.filterLabel}>
      <SegmentedControl
        label={words.state}
        value={filters.state}
        options={[
          ['', words.all],
          ['active', words.active],
          ['dead', words.dead],
          ['done', words.done],
        ]}
        onChange={(state) => setQuery({ state })}
      />
      <SearchField
        label={words.textLabel}
        placeholder={words.textPlaceholder}
        value={filters.text}
        onChange={(text) => setQuery({ text })}
      />
      <AgentSelect value={filters.agent} anyText={words.anyAgent} onChange={(agent) => setQuery({ agent })} />
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
    showToast(dead.started(push.length))
    list.refresh()
  }
  return (
    <FailureNotice
      isLive={false}
      title={dead.title(push.length)}
      advice={dead.advice}
      actions={
        <ConfirmButton
          label={dead.redeliverAll}
          question={dead.question(push.length)}
          danger={false}
          class="small"
          onConfirm={redeliverAll}
        >
          {dead.confirm}
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
      what={words.item}
      filters={webhookFilters.names}
      isFiltered={webhookFilterSearch(filters) !== '' && !wantsDead}
    >
      {wantsDead ? (
        <EmptyState title={empty.deadTitle}>
          <p>{empty.deadHint}</p>
        </EmptyState>
      ) : (
        <EmptyState title={empty.title}>
          <p>{empty.hint}</p>
          {agent !== undefined && <CodeBlock text={webhookCurl(location.origin, agent)} label={empty.example} wrap />}
        </EmptyState>
      )}
    </EmptyList>
  )
}
