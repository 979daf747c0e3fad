/** The webhooks that fit, the ones made last first. */
import { useRef } from 'preact/hooks'
import type { PushSummary } from '../../api/admin.ts'
import { useExampleAgent } from '../../api/agents.ts'
import { call } from '../../api/call.ts'
import { usePaged } from '../../api/paged.ts'
import type { Paged } from '../../api/paged.ts'
import { useResource } from '../../api/resource.ts'
import { tell } from '../../app/announce.ts'
import { go, setQuery } from '../../app/router.ts'
import { Code } from '../../parts/code.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useListKeys } from '../../parts/list-keys.ts'
import { NewOnes, NothingFound } from '../../parts/listing.tsx'
import { Pick } from '../../parts/pick.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Choice } from '../../parts/tabs.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { many } from '../../parts/words.ts'
import { PushRow } from './push-row.tsx'
import { askFor, filterNames, filterText, pushHref, webhookCurl } from './push-words.ts'
import type { PushFilters } from './push-words.ts'

const keyOf = ({ taskId, configId }: PushSummary): string => `${taskId} ${configId}`

export function PushList({
  filters,
  selected,
}: {
  readonly filters: PushFilters
  readonly selected: string | undefined
}) {
  const frame = useRef<HTMLDivElement>(null)
  const list = usePaged<PushSummary>(JSON.stringify(filters), {
    keyOf,
    async load(before, signal) {
      const asked = { ...askFor(filters), limit: 100 }
      const page = await call('listPush', {
        query: before === undefined ? asked : { ...asked, before: Number(before) },
        signal,
      })
      return { items: page.push, before: page.before }
    },
    concerns: (change, shown) =>
      change.type === 'push' ||
      change.type === 'tasks' ||
      (change.type === 'task' && shown.some(({ taskId }) => taskId === change.task.id)),
  })
  const push = list.items.value ?? []
  const at = push.findIndex((one) => keyOf(one) === selected)
  const hrefOf = (one: PushSummary | undefined): string =>
    one === undefined ? '/push' : pushHref(one, filterText(filters))
  const { cursor } = useListKeys({
    count: push.length,
    at,
    frame,
    idOf: (index) => push[index]?.taskId ?? '',
    open: (index) => go(hrefOf(push[index]), { replace: selected !== undefined }),
    close: selected === undefined ? undefined : () => go(`/push${filterText(filters)}`),
  })
  const { value: problem } = list.problem
  const isOff = problem?.code === 'UNAVAILABLE'

  return (
    <div ref={frame} class="listing push-list">
      <Filters filters={filters} />
      {filters.state === 'dead' && push.length > 0 && <AboutDead push={push} list={list} />}
      {isOff && (
        <Empty title="Webhooks are switched off">
          <p>
            Set <code>push: true</code> in the configuration, and clients may name a webhook for their tasks.
          </p>
          <a class="button" href="/settings/config">
            Open the configuration
          </a>
        </Empty>
      )}
      {problem !== undefined && !isOff && <Trouble reason={problem} retry={list.reload} />}
      {list.items.value === undefined && problem === undefined && <Loading what="webhooks" />}
      {list.items.value !== undefined && push.length === 0 && !isOff && <Nothing filters={filters} list={list} />}
      {push.length > 0 && (
        <>
          <div class="listing-line listing-head push-line" aria-hidden="true">
            <span>State</span>
            <span>Webhook and task</span>
            <span class="push-wide">Told</span>
            <span class="push-wide">Last answer</span>
            <span class="push-wide">Next try</span>
            <span class="push-number">Made</span>
          </div>
          <NewOnes list={list} frame={frame} />
          <VirtualList
            label="Webhooks"
            count={push.length}
            rowHeight={56}
            keyOf={(index) => (push[index] === undefined ? '' : keyOf(push[index]))}
            selected={cursor}
            onEnd={list.more}
            onTop={list.top}
            row={(index) => {
              const one = push[index]
              return (
                one !== undefined && <PushRow push={one} index={index} href={hrefOf(one)} isSelected={index === at} />
              )
            }}
          />
        </>
      )}
    </div>
  )
}

function Filters({ filters }: { readonly filters: PushFilters }) {
  const agents = useResource(
    'agents',
    (signal) => call('listAgents', { signal }),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const names = new Set((agents.value.value?.agents ?? []).map(({ name }) => name))
  // One that was taken out of the configuration may still be asked for.
  if (filters.agent !== '') names.add(filters.agent)
  return (
    <search class="toolbar" aria-label="Filter the webhooks">
      <Choice
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
      <Pick
        label="Agent"
        value={filters.agent}
        options={[['', 'Any agent'], ...[...names].sort().map((name) => [name, name] as const)]}
        onChange={(agent) => setQuery({ agent })}
      />
    </search>
  )
}

function AboutDead({ push, list }: { readonly push: readonly PushSummary[]; readonly list: Paged<PushSummary> }) {
  async function redeliverAll(): Promise<void> {
    for (const { taskId, configId } of push) await call('redeliver', { params: { taskId, configId } })
    tell(`Trying ${many(push.length, 'webhook')} again`)
    list.reload()
  }
  return (
    <div class="push-about">
      <p>
        These were given up: every try failed, or the receiver refused an event. Each rests at the first event that it
        did not take, and nothing is lost. Mend the receiver, then redeliver.
      </p>
      <Confirm
        label="Redeliver all"
        question={`Redeliver ${many(push.length, 'webhook')}?`}
        danger={false}
        class="small"
        does={redeliverAll}
      >
        Each goes on with the first event that it did not take. What fails again comes back here.
      </Confirm>
    </div>
  )
}

function Nothing({ filters, list }: { readonly filters: PushFilters; readonly list: Paged<PushSummary> }) {
  const agent = useExampleAgent()
  const wantsDead = filters.state === 'dead' && filters.agent === '' && filters.text === ''
  return (
    <NothingFound
      list={list}
      what="webhook"
      filters={filterNames}
      isFiltered={filterText(filters) !== '' && !wantsDead}
    >
      {wantsDead ? (
        <Empty title="No dead letters">
          <p>
            Every webhook was told, or is still being tried: after 1 s, 5 s, 30 s and so on, for some hours. What is
            given up after that stands here.
          </p>
        </Empty>
      ) : (
        <Empty title="No webhooks yet">
          <p>A client that does not want to wait names a webhook, and the hub posts to it what happens to the task.</p>
          {agent !== undefined && (
            <Code text={webhookCurl(location.origin, agent)} label="a message with a webhook" wrap />
          )}
        </Empty>
      )}
    </NothingFound>
  )
}
