/** The card as clients of each version get it, side by side, with its signature and the drift of a remote card. */
import type { AgentCards } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { query, setQuery } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { CopyButton, CopyableId } from '../../../components/content/copy-button.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { EmptyState, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { signatureStatus } from '../../../agent/agent-status.ts'
import { diffCards, type CardDiff } from './card-diff.ts'
import './card-tab.css'

type Card = Readonly<Record<string, unknown>>
type Remote = NonNullable<AgentCards['remote']>

export function CardTab({ agent, cards, onApproved }: AgentTabProps & { readonly onApproved: () => void }) {
  if (cards === undefined) return <EmptyState title="It has no card while it is not open" />
  const { remote } = cards
  return (
    <div class="agent-tab card-tab">
      {remote?.changed !== undefined && <CardDrift name={agent.name} remote={remote} onApproved={onApproved} />}
      <Signature cards={cards} />
      <Versions cards={cards} url={agent.card} />
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
    <section class="stack-small agent-part" aria-label="What has changed">
      <WarningNote tone={policy === 'block' ? 'failed' : 'waiting'}>
        <div class="card-drift">
          <p class="grow">
            Its own card has changed <RelativeTime at={at} />: {fields.length === 0 ? 'something' : null}
            {fields.map((field) => (
              <code key={field}>{field} </code>
            ))}
            {policy === 'block' && '. It is not called before you approve.'}
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
            From now on the agent is what this card says. Should the old card come back, that is a change again.
          </ConfirmButton>
        </div>
      </WarningNote>
      {approved !== undefined && (
        <CardComparison
          left={{ title: 'Approved', card: approved.card }}
          right={{ title: 'Now', card }}
          diff={diffCards(approved.card, card)}
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
          <StatusBadge tone="ended" shape="○" word="unsigned" />
          <span class="soft">
            The hub does not sign its cards. Set <code>signing</code> and <code>publicUrl</code> in the configuration.
          </span>
        </p>
      ) : (
        signatures.map(({ alg, kid, keys }) => (
          <p key={kid} class="card-signer">
            <StatusBadge tone="done" shape="●" word="signed" />
            <span class="soft">
              by this hub with <CopyableId id={kid} what="key id" /> ({alg})
              {keys !== undefined && <>, published at {keys}</>}
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
        The agent’s own card. {status.why}
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

interface CardVariant {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly card: Card
}

/** All variants that can be shown and compared. */
function cardVariants({ cards, remote }: AgentCards): readonly CardVariant[] {
  const named = (id: string, title: string, about: string, card: Card | undefined): readonly CardVariant[] =>
    card === undefined ? [] : [{ id, title, about, card }]
  return [
    ...named('1.0', '1.0', 'for clients of 1.0', cards['1.0']),
    ...named('0.3', '0.3', 'for clients of 0.3', cards['0.3']),
    ...named('0.2', '0.2', 'for clients of 0.2', cards['0.2']),
    ...named('merged', 'Merged', 'for clients that name no version', cards.merged),
    ...named('own', 'Its own', 'what the remote agent says itself', remote?.changed?.card ?? remote?.approved?.card),
  ]
}

function Versions({ cards, url }: { readonly cards: AgentCards; readonly url: string }) {
  const variants = cardVariants(cards)
  const shown = variants.find(({ id }) => id === query.value.get('version')) ?? variants[0]
  const other = variants.find(
    ({ id }) => id === (query.value.get('with') ?? defaultComparison(shown?.id)) && id !== shown?.id,
  )
  const isRaw = query.value.get('as') === 'raw'
  if (shown === undefined) return null
  return (
    <section class="stack-small agent-part">
      <div class="row agent-part-head">
        <h3>As clients see it</h3>
        <CopyButton text={JSON.stringify(shown.card, null, 2)} label={`Copy the card ${shown.about}`} class="small">
          Copy JSON
        </CopyButton>
      </div>
      <div class="card-tools">
        <SegmentedControl
          label="Version"
          value={shown.id}
          options={variants.map(({ id, title }) => [id, title] as const)}
          onChange={(version) => setQuery({ version, with: undefined })}
        />
        <label class="card-with">
          beside{' '}
          <SelectField
            value={other?.id ?? 'none'}
            options={[
              ['none', 'nothing'],
              ...variants.filter(({ id }) => id !== shown.id).map(({ id, title }) => [id, title] as const),
            ]}
            onChange={(id) => setQuery({ with: id })}
          />
        </label>
        <SegmentedControl
          label="Shown as"
          value={isRaw ? 'raw' : 'tree'}
          options={[
            ['tree', 'Tree'],
            ['raw', 'Raw'],
          ]}
          onChange={(as) => setQuery({ as: as === 'raw' ? 'raw' : undefined })}
        />
      </div>
      {isRaw ? (
        <RawCards variants={other === undefined ? [shown] : [shown, other]} url={url} />
      ) : other === undefined ? (
        <div class="card-tree panel">
          <JsonTreeView value={shown.card} open={3} />
        </div>
      ) : (
        <CardComparison left={shown} right={other} diff={diffCards(shown.card, other.card)} />
      )}
    </section>
  )
}

function defaultComparison(shown: string | undefined): string {
  return shown === '1.0' ? '0.3' : '1.0'
}

function RawCards({ variants, url }: { readonly variants: readonly CardVariant[]; readonly url: string }) {
  return (
    <div class="card-sides">
      {variants.map(({ id, title, about, card }) => (
        <div key={id} class="stack-small card-side">
          <h4>
            {title} <span class="faint">{about}</span>
          </h4>
          <CodeBlock text={JSON.stringify(card, null, 2)} label={`the card ${about}`} />
          {/^\d/.test(id) && (
            <CodeBlock text={`curl -H 'A2A-Version: ${id}' '${url}'`} label="the command that fetches it" />
          )}
        </div>
      ))}
    </div>
  )
}

interface ComparedCard {
  readonly title: string
  readonly card: Card
}

function CardComparison({
  left,
  right,
  diff,
}: {
  readonly left: ComparedCard
  readonly right: ComparedCard
  readonly diff: CardDiff
}) {
  const { onlyLeft, onlyRight, changed: otherwise } = diff
  const isSame = onlyLeft.length + onlyRight.length + otherwise.length === 0
  return (
    <>
      <ul class="card-differences" aria-label="Differences">
        {isSame && <li class="soft">Both say the same.</li>}
        <MemberNames words={`Only in ${left.title}`} names={onlyLeft} />
        <MemberNames words={`Only in ${right.title}`} names={onlyRight} />
        <MemberNames words="Otherwise" names={otherwise} />
      </ul>
      <div class="card-sides">
        {[
          { ...left, changed: diff.left },
          { ...right, changed: diff.right },
        ].map(({ title, card, changed }) => (
          <div key={title} class="stack-small card-side">
            <h4>{title}</h4>
            <div class="card-tree panel">
              <JsonTreeView value={card} open={3} changed={changed} />
            </div>
          </div>
        ))}
      </div>
    </>
  )
}

function MemberNames({ words, names }: { readonly words: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <li>
      <span class="soft">{words}</span>
      {names.map((name) => (
        <code key={name} class="cut">
          {name}
        </code>
      ))}
    </li>
  )
}
