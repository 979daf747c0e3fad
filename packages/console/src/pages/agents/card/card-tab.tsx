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
import { CardPayloads } from './card-payloads.tsx'
import { CardVersions } from './card-versions.tsx'
import './card-tab.css'

type Remote = NonNullable<AgentCards['remote']>

export function CardTab({ agent, cards, onApproved }: AgentTabProps & { readonly onApproved: () => void }) {
  if (cards === undefined) return <EmptyState title="No card while the agent is not running" />
  const { remote } = cards
  return (
    <div class="stack-wider agent-tab card-tab">
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
    <section class="stack-small agent-part" aria-label="Card changes">
      <WarningNote tone={policy === 'block' ? 'failed' : 'waiting'}>
        <div class="card-drift">
          <p class="grow">
            Its card has changed <RelativeTime at={at} />: {fields.length === 0 ? 'unknown fields' : null}
            {fields.map((field) => (
              <code key={field}>{field} </code>
            ))}
          </p>
          <ConfirmButton
            label="Approve"
            danger={false}
            question={`Approve the new card of ${name}?`}
            onConfirm={async () => {
              await callAdmin('approveCard', { params: { agent: name }, body: { fingerprint } })
              onApproved()
            }}
          >
            The hub uses this card from now on. If the previous card returns, that is a change again.
          </ConfirmButton>
        </div>
      </WarningNote>
      {approved !== undefined && (
        <CardPayloads
          cards={[
            { id: 'approved', title: 'Approved', about: 'that you approved', card: approved.card },
            { id: 'current', title: 'Current', about: 'that it has now', card },
          ]}
        />
      )}
    </section>
  )
}

function Signature({ cards: { signatures, remote } }: { readonly cards: AgentCards }) {
  return (
    <section class="stack-small agent-part">
      <h3>Signature</h3>
      {signatures.length === 0 ? (
        <p class="card-signer">
          <StatusBadge tone="ended" shape="○" word="Unsigned" />
          <span class="soft">
            The hub does not sign its cards. Set <code>signing</code> and <code>publicUrl</code> in the configuration.
          </span>
        </p>
      ) : (
        signatures.map(({ alg, kid, keys }) => (
          <p key={kid} class="card-signer">
            <StatusBadge tone="done" shape="●" word="Signed" />
            <span class="soft">
              by this hub with <CopyableId id={kid} what="key id" /> ({alg})
              {keys !== undefined && `, published at ${keys}`}
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
        The card of the remote agent. {status.why}
        {approved !== undefined && (
          <>
            {' '}
            Approved <RelativeTime at={approved.at} />, <CopyableId id={approved.fingerprint} what="fingerprint" />
          </>
        )}
      </span>
    </p>
  )
}
