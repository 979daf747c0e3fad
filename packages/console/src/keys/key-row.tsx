/** One key of the list: its state, scopes and use, and the buttons that replace and revoke it. */
import { useEffect, useRef } from 'preact/hooks'
import type { Key, MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { ConfirmButton } from '../components/layout/confirm-button.tsx'
import { StatusBadge } from '../components/status/task-state.tsx'
import { RelativeTime } from '../components/time.tsx'
import { describeScopes } from './key-draft.ts'
import { pluralize } from '../components/format.ts'

const states = { active: 'Active', expired: 'Expired', revoked: 'Revoked' }

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

export function KeyRow({ info, isWanted, onMade, onRevoked }: KeyRowProps) {
  const { id, name, prefix, state, scopes } = info
  const [tone, shape] = keyStateDisplays[state]
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isWanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isWanted])
  return (
    <li ref={element} aria-current={isWanted ? 'true' : undefined}>
      <div class="line keys-who">
        <span class="keys-name cut">{name}</span>
        <code class="faint cut">{prefix}…</code>
      </div>
      <StatusBadge tone={tone} shape={shape} word={states[state]} />
      <div class="agent-tags record-tags">
        <span class="unseen">Access</span>
        {describeScopes(scopes).map((word) => (
          <span key={word} class="agent-tag">
            {word}
          </span>
        ))}
      </div>
      <div class="record-facts faint">
        <KeyFacts info={info} />
      </div>
      {state === 'active' && (
        <div class="record-actions">
          <ConfirmButton
            label="Replace"
            class="small"
            danger={false}
            title={`Replace ${name}`}
            question={`Create a replacement for “${name}”?`}
            onConfirm={async () => onMade(await callAdmin('createKey', { body: { replaces: id } }))}
          >
            The new key has the same permissions and sees the same tasks. The old key works until you revoke it.
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
            {"Requests with this key will be rejected. This can't be undone."}
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
        {lastUsedAt === undefined ? 'Never used' : 'Used '}
        {lastUsedAt !== undefined && <RelativeTime at={lastUsedAt} />}
      </span>
      <span>
        {'Created '}
        <RelativeTime at={createdAt} />
        {` by ${createdBy}`}
      </span>
      {revokedAt !== undefined ? (
        <span>
          {'Revoked '}
          <RelativeTime at={revokedAt} />
        </span>
      ) : expiresAt === undefined ? (
        <span>Never expires</span>
      ) : (
        <span>
          {'Expires '}
          <RelativeTime at={expiresAt} />
        </span>
      )}
      {rate !== undefined && <span>{rate}</span>}
      {tasksPerDay !== undefined && <span>{pluralize(tasksPerDay, 'task')} per day</span>}
      {principal !== `key:${id}` && <span>As {principal}</span>}
      {tenant !== undefined && <span>Tenant {tenant}</span>}
    </>
  )
}
