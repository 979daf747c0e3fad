/** One key of the list: its state, scopes and use, and the buttons that replace and revoke it. */
import { useEffect, useRef } from 'preact/hooks'
import type { Key, MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { ConfirmButton } from '../components/layout/confirm-button.tsx'
import { StatusBadge } from '../components/status/task-state.tsx'
import { RelativeTime } from '../components/time.tsx'
import { describeScopes } from './key-draft.ts'
import { keyRowStrings } from './strings.ts'

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
      <div class="keys-who">
        <span class="keys-name cut">{name}</span>
        <code class="faint cut">{prefix}…</code>
      </div>
      <StatusBadge tone={tone} shape={shape} word={keyRowStrings.states[state]} />
      <div class="agent-tags keys-scopes">
        <span class="unseen">{keyRowStrings.access}</span>
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
            label={keyRowStrings.replace}
            class="small"
            danger={false}
            title={keyRowStrings.replaceNamed(name)}
            question={keyRowStrings.replaceQuestion(name)}
            onConfirm={async () => onMade(await callAdmin('createKey', { body: { replaces: id } }))}
          >
            {keyRowStrings.replaceEffect}
          </ConfirmButton>
          <ConfirmButton
            label={keyRowStrings.revoke}
            class="small"
            title={keyRowStrings.revokeNamed(name)}
            question={keyRowStrings.revokeQuestion(name)}
            onConfirm={async () => {
              await callAdmin('revokeKey', { params: { id } })
              onRevoked()
            }}
          >
            {keyRowStrings.revokeEffect}
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
        {lastUsedAt === undefined ? keyRowStrings.neverUsed : keyRowStrings.used}
        {lastUsedAt !== undefined && <RelativeTime at={lastUsedAt} />}
      </span>
      <span>
        {keyRowStrings.created}
        <RelativeTime at={createdAt} />
        {keyRowStrings.by(createdBy)}
      </span>
      {revokedAt !== undefined ? (
        <span>
          {keyRowStrings.revoked}
          <RelativeTime at={revokedAt} />
        </span>
      ) : expiresAt === undefined ? (
        <span>{keyRowStrings.neverExpires}</span>
      ) : (
        <span>
          {keyRowStrings.expires}
          <RelativeTime at={expiresAt} />
        </span>
      )}
      {rate !== undefined && <span>{rate}</span>}
      {tasksPerDay !== undefined && <span>{keyRowStrings.tasksPerDay(tasksPerDay)}</span>}
      {principal !== `key:${id}` && <span>{keyRowStrings.principal(principal)}</span>}
      {tenant !== undefined && <span>{keyRowStrings.tenant(tenant)}</span>}
    </>
  )
}
