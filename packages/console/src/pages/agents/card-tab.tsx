/** The card as clients of each version get it, side by side; whose signature it has; and what of a remote one has changed. */
import type { AgentCards } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { query, setQuery } from '../../app/router.ts'
import { Code } from '../../parts/code.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy, Id } from '../../parts/copy.tsx'
import { Json } from '../../parts/json.tsx'
import { Mark } from '../../parts/state.tsx'
import { Choice } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty } from '../../parts/trouble.tsx'
import type { TabProps } from './tab-props.ts'
import { signatureLook } from './agent-look.ts'
import { diffCards } from './card-diff.ts'
import type { CardDiff } from './card-diff.ts'
import { Note } from './note.tsx'
import './card-tab.css'

type Card = Readonly<Record<string, unknown>>
type Remote = NonNullable<AgentCards['remote']>

export function CardTab({ agent, cards, onApproved }: TabProps & { readonly onApproved: () => void }) {
  if (cards === undefined) return <Empty title="It has no card while it is not open" />
  const { remote } = cards
  return (
    <div class="agent-tab card-tab">
      {remote?.changed !== undefined && <Drift name={agent.name} remote={remote} onApproved={onApproved} />}
      <Signature cards={cards} />
      <Versions cards={cards} url={agent.card} />
    </div>
  )
}

interface DriftProps {
  readonly name: string
  readonly remote: Remote
  readonly onApproved: () => void
}

function Drift({ name, remote: { approved, changed, policy }, onApproved }: DriftProps) {
  if (changed === undefined) return null
  const { fingerprint, fields, card, at } = changed
  return (
    <section class="agent-part" aria-label="What has changed">
      <Note tone={policy === 'block' ? 'failed' : 'waiting'}>
        <div class="card-drift">
          <p class="grow">
            Its own card has changed <Ago at={at} />: {fields.length === 0 ? 'something' : null}
            {fields.map((field) => (
              <code key={field}>{field} </code>
            ))}
            {policy === 'block' && '. It is not called before you approve.'}
          </p>
          <Confirm
            label="Approve"
            danger={false}
            question={`Approve the new card of ${name}?`}
            does={async () => {
              await call('approveCard', { params: { agent: name }, body: { fingerprint } })
              onApproved()
            }}
          >
            From now on the agent is what this card says. Should the old card come back, that is a change again.
          </Confirm>
        </div>
      </Note>
      {approved !== undefined && (
        <Compare
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
    <section class="agent-part">
      <h3>Signature</h3>
      {signatures.length === 0 ? (
        <p class="card-signer">
          <Mark tone="ended" shape="○" word="unsigned" />
          <span class="soft">
            The hub does not sign its cards. Set <code>signing</code> and <code>publicUrl</code> in the configuration.
          </span>
        </p>
      ) : (
        signatures.map(({ alg, kid, keys }) => (
          <p key={kid} class="card-signer">
            <Mark tone="done" shape="●" word="signed" />
            <span class="soft">
              by this hub with <Id id={kid} what="key id" /> ({alg}){keys !== undefined && <>, published at {keys}</>}
            </span>
          </p>
        ))
      )}
      {remote !== undefined && <OwnSignature remote={remote} />}
    </section>
  )
}

function OwnSignature({ remote: { signature, approved } }: { readonly remote: Remote }) {
  const { tone, shape, word, why } = signatureLook(signature)
  return (
    <p class="card-signer">
      <Mark tone={tone} shape={shape} word={word} />
      <span class="soft">
        The agent’s own card. {why}
        {approved !== undefined && (
          <>
            {' '}
            Approved <Ago at={approved.at} />, <Id id={approved.fingerprint} what="fingerprint" />
          </>
        )}
      </span>
    </p>
  )
}

interface Named {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly card: Card
}

/** All that can be looked at and compared. */
function variantsOf({ cards, remote }: AgentCards): readonly Named[] {
  const named = (id: string, title: string, about: string, card: Card | undefined): readonly Named[] =>
    card === undefined ? [] : [{ id, title, about, card }]
  return [
    ...named('1.0', '1.0', 'for clients of 1.0', cards['1.0']),
    ...named('0.3', '0.3', 'for clients of 0.3', cards['0.3']),
    ...named('0.2', '0.2', 'for clients of 0.2', cards['0.2']),
    ...named('merged', 'Merged', 'for those who name no version', cards.merged),
    ...named('own', 'Its own', 'what the remote agent says itself', remote?.changed?.card ?? remote?.approved?.card),
  ]
}

function Versions({ cards, url }: { readonly cards: AgentCards; readonly url: string }) {
  const variants = variantsOf(cards)
  const shown = variants.find(({ id }) => id === query.value.get('version')) ?? variants[0]
  const other = variants.find(({ id }) => id === (query.value.get('with') ?? usualOther(shown?.id)) && id !== shown?.id)
  const isRaw = query.value.get('as') === 'raw'
  if (shown === undefined) return null
  return (
    <section class="agent-part">
      <div class="agent-part-head">
        <h3>As clients see it</h3>
        <Copy text={JSON.stringify(shown.card, null, 2)} label={`Copy the card ${shown.about}`} class="small">
          Copy JSON
        </Copy>
      </div>
      <div class="card-tools">
        <Choice
          label="Version"
          value={shown.id}
          options={variants.map(({ id, title }) => [id, title] as const)}
          onChange={(version) => setQuery({ version, with: undefined })}
        />
        <label class="card-with">
          beside{' '}
          <select value={other?.id ?? 'none'} onChange={(event) => setQuery({ with: event.currentTarget.value })}>
            <option value="none">nothing</option>
            {variants
              .filter(({ id }) => id !== shown.id)
              .map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
          </select>
        </label>
        <Choice
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
        <Raw variants={other === undefined ? [shown] : [shown, other]} url={url} />
      ) : other === undefined ? (
        <div class="card-tree panel">
          <Json value={shown.card} open={3} />
        </div>
      ) : (
        <Compare left={shown} right={other} diff={diffCards(shown.card, other.card)} />
      )}
    </section>
  )
}

function usualOther(shown: string | undefined): string {
  return shown === '1.0' ? '0.3' : '1.0'
}

function Raw({ variants, url }: { readonly variants: readonly Named[]; readonly url: string }) {
  return (
    <div class="card-sides">
      {variants.map(({ id, title, about, card }) => (
        <div key={id} class="card-side">
          <h4>
            {title} <span class="faint">{about}</span>
          </h4>
          <Code text={JSON.stringify(card, null, 2)} label={`the card ${about}`} />
          {/^\d/.test(id) && (
            <Code text={`curl -H 'A2A-Version: ${id}' '${url}'`} label="the command that fetches it" />
          )}
        </div>
      ))}
    </div>
  )
}

interface Side {
  readonly title: string
  readonly card: Card
}

function Compare({ left, right, diff }: { readonly left: Side; readonly right: Side; readonly diff: CardDiff }) {
  const { onlyLeft, onlyRight, otherwise } = diff
  const isSame = onlyLeft.length + onlyRight.length + otherwise.length === 0
  return (
    <>
      <ul class="card-differences" aria-label="Differences">
        {isSame && <li class="soft">Both say the same.</li>}
        <Members words={`Only in ${left.title}`} names={onlyLeft} />
        <Members words={`Only in ${right.title}`} names={onlyRight} />
        <Members words="Otherwise" names={otherwise} />
      </ul>
      <div class="card-sides">
        {[
          { ...left, changed: diff.left },
          { ...right, changed: diff.right },
        ].map(({ title, card, changed }) => (
          <div key={title} class="card-side">
            <h4>{title}</h4>
            <div class="card-tree panel">
              <Json value={card} open={3} changed={changed} />
            </div>
          </div>
        ))}
      </div>
    </>
  )
}

function Members({ words, names }: { readonly words: string; readonly names: readonly string[] }) {
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
