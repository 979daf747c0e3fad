/** Keys: made, shown once, narrowed, revoked. Of one agent, or of the whole hub. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Key, MadeKey } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { query, setQuery } from '../../app/router.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Mark } from '../../parts/state.tsx'
import { Choice } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { many } from '../../parts/words.ts'
import { KeyForm } from './key-form.tsx'
import { inOrder, isFor, scopeWords } from './key-order.ts'
import { ShownKey } from './shown-key.tsx'
import { concernsAgent } from './use-agents.ts'
import './keys-panel.css'
import './tags.css'

/** Of a page that the hub answers, and of those that are drawn at first. */
const pageSize = 1_000
const mostPages = 20
const drawn = 100

async function allKeys(signal: AbortSignal): Promise<readonly Key[]> {
  const keys: Key[] = []
  let after: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await call('listKeys', { query: { limit: pageSize, after }, signal })
    keys.push(...answer.keys)
    after = answer.after
    if (after === undefined) break
  }
  return keys
}

export function KeysPanel({ agent }: { readonly agent?: string }) {
  // Nothing tells of keys themselves; that one was used is told by the task that it opened.
  const found = useResource('keys', allKeys, agent === undefined ? ({ type }) => type === 'task' : concernsAgent(agent))
  const made = useSignal<MadeKey | undefined>(undefined)
  const isMaking = query.value.get('make') === 'key' && made.value === undefined

  function show(key: MadeKey): void {
    made.value = key
    setQuery({ make: undefined })
    found.reload()
  }

  return (
    <div class="keys">
      {made.value !== undefined && <ShownKey made={made.value} onDone={() => (made.value = undefined)} />}
      {isMaking && <KeyForm agent={agent} onMade={show} onCancel={() => setQuery({ make: undefined })} />}
      {found.problem.value !== undefined && <Trouble reason={found.problem.value} retry={() => found.reload()} />}
      {found.value.value === undefined ? (
        found.problem.value === undefined && <Loading what="the keys" />
      ) : (
        <Keys
          keys={inOrder(found.value.value.filter((key) => agent === undefined || isFor(key, agent)))}
          agent={agent}
          isMaking={isMaking}
          onMade={show}
          onRevoked={() => found.reload()}
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
      (key.id === wanted || which === 'all' || key.state === 'active') && saidOf(key).includes(text.toLowerCase()),
  )
  const shown = isWhole.value ? fitting : fitting.slice(0, drawn)
  return (
    <>
      <div class="keys-tools">
        {keys.length > 0 && (
          <>
            <input
              type="search"
              aria-label="Filter the keys"
              placeholder="Filter …"
              value={text}
              onInput={(event) => setQuery({ find: event.currentTarget.value })}
            />
            <Choice
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
        <ul class="panel keys-list" aria-label="Keys">
          {shown.map((key) => (
            <KeyRow key={key.id} info={key} isWanted={key.id === wanted} onMade={onMade} onRevoked={onRevoked} />
          ))}
        </ul>
      )}
      {shown.length < fitting.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {many(fitting.length, 'key')}
        </button>
      )}
    </>
  )
}

function saidOf({ name, prefix, id, principal, scopes }: Key): string {
  return [name, prefix, id, principal, ...scopes].join('\n').toLowerCase()
}

function NoKeys({ agent }: { readonly agent: string | undefined }) {
  return (
    <Empty title="No keys yet">
      <p>
        A key says who calls, and opens{' '}
        {agent === undefined ? 'the agents that you choose' : `${agent} and nothing else`}. It is shown once, when it is
        made.
      </p>
    </Empty>
  )
}

const looks = {
  active: ['done', '●'],
  expired: ['ended', '–'],
  revoked: ['ended', '⊘'],
} as const

interface KeyRowProps {
  readonly info: Key
  /** The address names it. */
  readonly isWanted: boolean
  readonly onMade: (key: MadeKey) => void
  readonly onRevoked: () => void
}

function KeyRow({ info, isWanted, onMade, onRevoked }: KeyRowProps) {
  const { id, name, prefix, state, scopes } = info
  const [tone, shape] = looks[state]
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
      <Mark tone={tone} shape={shape} word={state} />
      <div class="agent-tags keys-scopes">
        <span class="unseen">Good for</span>
        {scopeWords(scopes).map((word) => (
          <span key={word} class="agent-tag">
            {word}
          </span>
        ))}
      </div>
      <div class="keys-facts faint">
        <KeyFacts info={info} />
      </div>
      {state === 'active' && (
        <div class="keys-actions">
          <Confirm
            label="Replace"
            class="small"
            danger={false}
            title={`Replace ${name}`}
            question={`Make a key in the place of “${name}”?`}
            does={async () => onMade(await call('createKey', { body: { replaces: id } }))}
          >
            The new one may do the same and sees the same tasks. The old one goes on until you revoke it.
          </Confirm>
          <Confirm
            label="Revoke"
            class="small"
            title={`Revoke ${name}`}
            question={`Revoke the key “${name}”?`}
            does={async () => {
              await call('revokeKey', { params: { id } })
              onRevoked()
            }}
          >
            Whoever shows it is refused from now on. It cannot be made good again.
          </Confirm>
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
        {lastUsedAt === undefined ? (
          'never used'
        ) : (
          <>
            used <Ago at={lastUsedAt} />
          </>
        )}
      </span>
      <span>
        made <Ago at={createdAt} /> by {createdBy}
      </span>
      {revokedAt !== undefined ? (
        <span>
          revoked <Ago at={revokedAt} />
        </span>
      ) : expiresAt === undefined ? (
        <span>never expires</span>
      ) : (
        <span>
          expires <Ago at={expiresAt} />
        </span>
      )}
      {rate !== undefined && <span>{rate}</span>}
      {tasksPerDay !== undefined && <span>{many(tasksPerDay, 'task')} a day</span>}
      {principal !== `key:${id}` && <span>for {principal}</span>}
      {tenant !== undefined && <span>tenant {tenant}</span>}
    </>
  )
}
