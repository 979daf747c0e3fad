/** API keys of one agent or of the whole hub: create, show once, restrict, revoke. */
import { useSignal } from '@preact/signals'
import type { Key, MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { loadAllPages } from '../api/load-all-pages.ts'
import { useResource } from '../api/resource.ts'
import { query, setQuery } from '../app/router.ts'
import { Icon } from '../components/icon.tsx'
import { SegmentedControl } from '../components/layout/tabs.tsx'
import { EmptyState, LoadState } from '../components/status/error-notice.tsx'
import { KeyForm } from './key-form.tsx'
import { sortKeys, isKeyForAgent } from './key-draft.ts'
import { NewKeyNotice } from './new-key-notice.tsx'
import { affectsAgent } from '../api/agents.ts'
import { KeyRow } from './key-row.tsx'
import './keys-panel.css'
import '../components/list/list-states.css'
import '../components/status/tags.css'
import { pluralize } from '../components/format.ts'

/** Keys per page of the hub's response, and rows rendered at first. */
const pageSize = 1_000
const initialRowCount = 100

function listAllKeys(signal: AbortSignal): Promise<readonly Key[]> {
  return loadAllPages(async (after) => {
    const page = await callAdmin('listKeys', { query: { limit: pageSize, after }, signal })
    return { items: page.keys, after: page.after }
  })
}

export function KeysPanel({ agent }: { readonly agent?: string }) {
  // The change feed has no events for keys; the task that a key opened shows that it was used.
  const found = useResource(
    'keys',
    listAllKeys,
    agent === undefined ? ({ type }) => type === 'task' : affectsAgent(agent),
  )
  const made = useSignal<MadeKey | undefined>(undefined)
  const isMaking = query.value.get('make') === 'key' && made.value === undefined

  function show(key: MadeKey): void {
    made.value = key
    setQuery({ make: undefined })
    found.reload()
  }

  return (
    <div class="stack-wide keys">
      {made.value !== undefined && <NewKeyNotice made={made.value} onDone={() => (made.value = undefined)} />}
      {isMaking && <KeyForm agent={agent} onMade={show} onCancel={() => setQuery({ make: undefined })} />}
      <LoadState of={found} what="keys" />
      {found.value.value !== undefined && (
        <Keys
          keys={sortKeys(found.value.value.filter((key) => agent === undefined || isKeyForAgent(key, agent)))}
          agent={agent}
          isMaking={isMaking}
          onMade={show}
          onRevoked={found.reload}
        />
      )}
    </div>
  )
}

interface KeysProps {
  readonly keys: readonly Key[]
  readonly agent: string | undefined
  readonly isMaking: boolean
  readonly onMade: (key: MadeKey) => void
  readonly onRevoked: () => void
}

function Keys({ keys, agent, isMaking, onMade, onRevoked }: KeysProps) {
  const isWhole = useSignal(false)
  const text = query.value.get('find') ?? ''
  const which = query.value.get('keys') === 'all' ? 'all' : 'active'
  const wanted = query.value.get('key')
  const fitting = keys.filter(
    (key) =>
      (key.id === wanted || which === 'all' || key.state === 'active') &&
      keySearchText(key).includes(text.toLowerCase()),
  )
  const shown = isWhole.value ? fitting : fitting.slice(0, initialRowCount)
  return (
    <>
      <div class="bar keys-tools">
        {keys.length > 0 && (
          <>
            <input
              type="search"
              aria-label="Filter keys"
              placeholder="Filter…"
              value={text}
              onInput={(event) => setQuery({ find: event.currentTarget.value })}
            />
            <SegmentedControl
              label="Which keys"
              value={which}
              options={[
                ['active', 'Active'],
                ['all', 'All'],
              ]}
              onChange={(value) => setQuery({ keys: value === 'all' ? 'all' : undefined })}
            />
          </>
        )}
        {!isMaking && (
          <button type="button" class="keys-make" onClick={() => setQuery({ make: 'key' })}>
            <Icon name="plus" /> Create key
          </button>
        )}
      </div>
      {keys.length === 0 ? (
        !isMaking && <NoKeys agent={agent} />
      ) : shown.length === 0 ? (
        <p class="hint">No matching keys.</p>
      ) : (
        <ul class="panel record-list keys-list" aria-label="Keys">
          {shown.map((key) => (
            <KeyRow key={key.id} info={key} isWanted={key.id === wanted} onMade={onMade} onRevoked={onRevoked} />
          ))}
        </ul>
      )}
      {shown.length < fitting.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {pluralize(fitting.length, 'key')}
        </button>
      )}
    </>
  )
}

function keySearchText({ name, prefix, id, principal, scopes }: Key): string {
  return [name, prefix, id, principal, ...scopes].join('\n').toLowerCase()
}

function NoKeys({ agent }: { readonly agent: string | undefined }) {
  return (
    <EmptyState title="No keys yet">
      <p>
        A key identifies a caller and gives access to{' '}
        {agent === undefined ? 'the agents that you choose' : `${agent} only`}. It is shown once, when it is created.
      </p>
    </EmptyState>
  )
}
