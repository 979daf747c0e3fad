/** The card as clients of each version get it, side by side, with its signature and the drift of a remote card. */
import type { AgentCards } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { CopyableId } from '../../../components/content/copy-button.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { EmptyState, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { signatureStatus } from '../../../agent/agent-status.ts'
import { diffCards } from './card-diff.ts'
import { CardComparison } from './card-comparison.tsx'
import { CardVersions } from './card-versions.tsx'
import { agentsStrings } from '../strings.ts'
import './card-tab.css'

const words = agentsStrings.card
type Remote = NonNullable<AgentCards['remote']>

export function CardTab({ agent, cards, onApproved }: AgentTabProps & { readonly onApproved: () => void }) {
  if (cards === undefined) return <EmptyState title={words.none} />
  const { remote } = cards
  return (
    <div class="agent-tab card-tab">
      {remote?.changed !== undefined && <CardDrift name={agent.name} remote={remote} onApproved={onApproved} />}
      <Signature cards={cards} />
      <CardVersions cards={cards} url={agent.card} />
    </div>
  )
}

interface CardDriftProps {
  readonly name: string
  readonly remote: Remote
  readonly onApproved: () => void
}

function CardDrift({ name, remote: { approved, changed, policy }, onApproved }: CardDriftProps) {
  if (changed === undefined) return null
  const { fingerprint, fields, card, at } = changed
  return (
    <section class="stack-small agent-part" aria-label={words.changes}>
      <WarningNote tone={policy === 'block' ? 'failed' : 'waiting'}>
        <div class="card-drift">
          <p class="grow">
            {words.changed} <RelativeTime at={at} />: {fields.length === 0 ? words.unknownFields : null}
            {fields.map((field) => (
              <code key={field}>{field} </code>
            ))}
          </p>
          <ConfirmButton
            label={words.approve}
            danger={false}
            question={words.approveQuestion(name)}
            onConfirm={async () => {
              await callAdmin('approveCard', { params: { agent: name }, body: { fingerprint } })
              onApproved()
            }}
          >
            {words.approveHint}
          </ConfirmButton>
        </div>
      </WarningNote>
      {approved !== undefined && (
        <CardComparison
          left={{ title: words.approvedTitle, card: approved.card }}
          right={{ title: words.currentTitle, card }}
          diff={diffCards(approved.card, card)}
        />
      )}
    </section>
  )
}

function Signature({ cards: { signatures, remote } }: { readonly cards: AgentCards }) {
  return (
    <section class="stack-small agent-part">
      <h3>{words.signature}</h3>
      {signatures.length === 0 ? (
        <p class="card-signer">
          <StatusBadge tone="ended" shape="○" word={words.unsigned} />
          <span class="soft">
            {words.unsignedHint[0]} <code>signing</code> {words.unsignedHint[1]} <code>publicUrl</code>{' '}
            {words.unsignedHint[2]}
          </span>
        </p>
      ) : (
        signatures.map(({ alg, kid, keys }) => (
          <p key={kid} class="card-signer">
            <StatusBadge tone="done" shape="●" word={words.signed} />
            <span class="soft">
              {words.signedBy} <CopyableId id={kid} what={words.keyId} /> ({alg})
              {keys !== undefined && words.publishedAt(keys)}
            </span>
          </p>
        ))
      )}
      {remote !== undefined && <RemoteSignature remote={remote} />}
    </section>
  )
}

function RemoteSignature({ remote: { signature, approved } }: { readonly remote: Remote }) {
  const status = signatureStatus(signature)
  return (
    <p class="card-signer">
      <StatusBadge {...status} />
      <span class="soft">
        {words.remoteCard} {status.why}
        {approved !== undefined && (
          <>
            {' '}
            {words.approved} <RelativeTime at={approved.at} />,{' '}
            <CopyableId id={approved.fingerprint} what={words.fingerprint} />
          </>
        )}
      </span>
    </p>
  )
}
