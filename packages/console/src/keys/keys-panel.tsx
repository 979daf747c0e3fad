/** API keys of one agent or of the whole hub: create, show once, restrict, revoke. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Key, MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { loadAllPages } from '../api/load-all-pages.ts'
import { useResource } from '../api/resource.ts'
import { query, setQuery } from '../app/router.ts'
import { ConfirmButton } from '../components/layout/confirm-button.tsx'
import { Icon } from '../components/icon.tsx'
import { StatusBadge } from '../components/status/task-state.tsx'
import { SegmentedControl } from '../components/layout/tabs.tsx'
import { RelativeTime } from '../components/time.tsx'
import { EmptyState, LoadState } from '../components/status/error-notice.tsx'
import { pluralize } from '../components/format.ts'
import { KeyForm } from './key-form.tsx'
import { sortKeys, isKeyForAgent, describeScopes } from './key-draft.ts'
import { NewKeyNotice } from './new-key-notice.tsx'
import { affectsAgent } from '../api/agents.ts'
import './keys-panel.css'
import '../components/list/list-states.css'
import '../components/status/tags.css'

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
    <div class="keys">
      {made.value !== undefined && <NewKeyNotice made={made.value} onDone={() => (made.value = undefined)} />}
      {isMaking && <KeyForm agent={agent} onMade={show} onCancel={() => setQuery({ make: undefined })} />}
      <LoadState of={found} what="the keys" />
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
              aria-label="Filter the keys"
              placeholder="Filter …"
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
            <Icon name="plus" /> Make a key
          </button>
        )}
      </div>
      {keys.length === 0 ? (
        !isMaking && <NoKeys agent={agent} />
      ) : shown.length === 0 ? (
        <p class="hint">No key is like that.</p>
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
        A key says who calls, and opens{' '}
        {agent === undefined ? 'the agents that you choose' : `${agent} and nothing else`}. It is shown once, when it is
        made.
      </p>
    </EmptyState>
  )
}

const keyStateDisplays = {
  active: ['done', '●'],
  expired: ['ended', '–'],
  revoked: ['ended', '⊘'],
} as const

interface KeyRowProps {
  readonly info: Key
  /** Whether the address selects this key. */
  readonly isWanted: boolean
  readonly onMade: (key: MadeKey) => void
  readonly onRevoked: () => void
}

function KeyRow({ info, isWanted, onMade, onRevoked }: KeyRowProps) {
  const { id, name, prefix, state, scopes } = info
  const [tone, shape] = keyStateDisplays[state]
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isWanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isWanted])
  return (
    <li ref={element} aria-current={isWanted ? 'true' : undefined}>
      <div class="keys-who">
        <span class="keys-name cut">{name}</span>
        <code class="faint cut">{prefix}…</code>
      </div>
      <StatusBadge tone={tone} shape={shape} word={state} />
      <div class="agent-tags keys-scopes">
        <span class="unseen">Good for</span>
        {describeScopes(scopes).map((word) => (
          <span key={word} class="agent-tag">
            {word}
          </span>
        ))}
      </div>
      <div class="record-facts keys-facts faint">
        <KeyFacts info={info} />
      </div>
      {state === 'active' && (
        <div class="keys-actions">
          <ConfirmButton
            label="Replace"
            class="small"
            danger={false}
            title={`Replace ${name}`}
            question={`Make a key in the place of “${name}”?`}
            onConfirm={async () => onMade(await callAdmin('createKey', { body: { replaces: id } }))}
          >
            The new one may do the same and sees the same tasks. The old one goes on until you revoke it.
          </ConfirmButton>
          <ConfirmButton
            label="Revoke"
            class="small"
            title={`Revoke ${name}`}
            question={`Revoke the key “${name}”?`}
            onConfirm={async () => {
              await callAdmin('revokeKey', { params: { id } })
              onRevoked()
            }}
          >
            Requests with this key are refused from now on. This cannot be undone.
          </ConfirmButton>
        </div>
      )}
    </li>
  )
}

function KeyFacts({ info }: { readonly info: Key }) {
  const { createdAt, createdBy, lastUsedAt, expiresAt, revokedAt, rate, tasksPerDay, principal, id, tenant } = info
  return (
    <>
      <span>
        {lastUsedAt === undefined ? 'never used' : 'used '}
        {lastUsedAt !== undefined && <RelativeTime at={lastUsedAt} />}
      </span>
      <span>
        made <RelativeTime at={createdAt} /> by {createdBy}
      </span>
      {revokedAt !== undefined ? (
        <span>
          revoked <RelativeTime at={revokedAt} />
        </span>
      ) : expiresAt === undefined ? (
        <span>never expires</span>
      ) : (
        <span>
          expires <RelativeTime at={expiresAt} />
        </span>
      )}
      {rate !== undefined && <span>{rate}</span>}
      {tasksPerDay !== undefined && <span>{pluralize(tasksPerDay, 'task')} a day</span>}
      {principal !== `key:${id}` && <span>for {principal}</span>}
      {tenant !== undefined && <span>tenant {tenant}</span>}
    </>
  )
}
