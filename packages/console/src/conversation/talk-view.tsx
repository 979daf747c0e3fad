/** What was said and made, one thing under the other. Of a long conversation the end is shown, and more when it is wanted. */
import type { Artifact, Message } from '@parley/a2a'
import { delegationExtension } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { lookOf, State } from '../parts/state.tsx'
import { Clock } from '../parts/time.tsx'
import { count, duration, shortened } from '../parts/words.ts'
import { grouped } from './grouped.ts'
import { PartView } from './part-view.tsx'
import { aboutIn } from './question/question-in.ts'
import type { Item, ItemOf, Talk } from './talk.ts'
import './talk-view.css'

export interface TalkViewProps {
  readonly talk: Talk
  readonly agent: string
  /** Something is on its way: what has not arrived yet may still do so. */
  readonly isBusy?: boolean
  /** The number of an event. */
  readonly selected?: number | undefined
  readonly onSelect?: ((seq: number) => void) | undefined
}

const atOnce = 200

export function TalkView({ talk, agent, isBusy = false, selected, onSelect }: TalkViewProps) {
  const shown = useSignal(atOnce)
  const opened = useSignal<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => grouped(talk.items, opened.value), [talk.items, opened.value])
  const wanted =
    selected === undefined ? -1 : rows.findIndex((row) => 'item' in row && row.item.seqs.includes(selected))
  const first = Math.max(0, Math.min(rows.length - shown.value, wanted < 0 ? rows.length : wanted))
  return (
    <ol class="talk">
      {first > 0 && (
        <li>
          <button type="button" class="small" onClick={() => (shown.value += atOnce * 5)}>
            Show {count(Math.min(first, atOnce * 5))} of {count(first)} earlier
          </button>
        </li>
      )}
      {rows.slice(first).map((row) =>
        'item' in row ? (
          <Row
            key={row.item.key}
            item={row.item}
            agent={agent}
            isBusy={isBusy}
            isSelected={selected !== undefined && row.item.seqs.includes(selected)}
            onSelect={onSelect}
          />
        ) : (
          <li key={row.key} class="talk-more">
            <button
              type="button"
              class="small plain"
              onClick={() => (opened.value = new Set([...opened.value, row.key]))}
            >
              <Icon name="more" size={14} /> {count(row.hidden)} more lines
            </button>
          </li>
        ),
      )}
    </ol>
  )
}

interface RowProps {
  readonly item: Item
  readonly agent: string
  readonly isBusy: boolean
  readonly isSelected: boolean
  readonly onSelect: ((seq: number) => void) | undefined
}

function Row({ item, agent, isBusy, isSelected, onSelect }: RowProps) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isSelected) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  const isPending = item.kind === 'said' && item.isPending === true
  return useMemo(
    () => (
      <li ref={element} class={`talk-${item.kind} ${sideOf(item)}`} aria-current={isSelected ? 'true' : undefined}>
        <Body item={item} agent={agent} isBusy={isBusy} time={<Time item={item} onSelect={onSelect} />} />
      </li>
    ),
    [item, agent, isPending && isBusy, isSelected, onSelect],
  )
}

function sideOf(item: Item): string {
  return item.kind === 'said' && item.message.role === 'ROLE_USER' ? 'mine' : 'theirs'
}

type Element = ReturnType<typeof Time>

function Time({ item, onSelect }: Pick<RowProps, 'onSelect'> & { readonly item: Item }) {
  const { at } = item
  const seq = item.seqs[0]
  const clock = at === undefined ? null : <Clock at={at} />
  if (onSelect === undefined || seq === undefined) return <span class="talk-time">{clock}</span>
  return (
    <button type="button" class="talk-time small plain" title={`Event ${seq}`} onClick={() => onSelect(seq)}>
      {clock ?? seq}
    </button>
  )
}

interface BodyProps {
  readonly item: Item
  readonly agent: string
  readonly isBusy: boolean
  readonly time: Element
}

function Body({ item, agent, isBusy, time }: BodyProps) {
  switch (item.kind) {
    case 'said':
      return <Said item={item} agent={agent} isBusy={isBusy} time={time} />
    case 'status':
      return <StatusLine item={item} time={time} />
    case 'asked':
      return <Asked item={item} agent={agent} time={time} />
    case 'made':
      return <Made artifact={item.artifact} isWhole={item.isWhole} agent={agent} time={time} />
    case 'ended':
      return <Ended item={item} time={time} />
  }
}

interface Of<Kind extends Item['kind']> {
  readonly item: ItemOf<Kind>
  readonly time: Element
}

function Said({ item, agent, isBusy, time }: Of<'said'> & Pick<BodyProps, 'agent' | 'isBusy'>) {
  const { message, isPending = false } = item
  const byAgent = message.role !== 'ROLE_USER'
  return (
    <>
      <p class="talk-head">
        <span class="talk-who">{byAgent ? agent : 'You'}</span>
        {time}
        {isPending && <span class="talk-pending">{isBusy ? 'sending …' : 'not sent'}</span>}
      </p>
      <div class="talk-bubble">
        <Parts message={message} byAgent={byAgent} />
      </div>
    </>
  )
}

function Parts({ message, byAgent }: { readonly message: Message; readonly byAgent: boolean }) {
  return (
    <>
      {message.parts.map((part, index) => (
        <PartView key={index} part={part} byAgent={byAgent} />
      ))}
      <References message={message} />
    </>
  )
}

/** The task that does it for this one. */
function References({ message }: { readonly message: Message }) {
  const to = aboutIn(message.metadata, delegationExtension)['agent']
  return (
    <>
      {(message.referenceTaskIds ?? []).map((id) => (
        <a key={id} class="talk-child" href={`/tasks/${encodeURIComponent(id)}`} title={id}>
          {typeof to === 'string' ? `${to} ` : ''}
          <span class="mono">{shortened(id)}</span>
        </a>
      ))}
    </>
  )
}

function StatusLine({ item, time }: Of<'status'>) {
  return (
    <>
      <span class="talk-line">
        {item.message.parts.map((part, index) =>
          'text' in part ? <bdi key={index}>{part.text}</bdi> : <PartView key={index} part={part} byAgent={true} />,
        )}
        <References message={item.message} />
      </span>
      {time}
    </>
  )
}

function Asked({ item, agent, time }: Of<'asked'> & Pick<BodyProps, 'agent'>) {
  const isAuth = item.state === 'TASK_STATE_AUTH_REQUIRED'
  // What programs read of a question is shown as a form, where it is answered.
  const parts = (item.message?.parts ?? []).filter((part) => !('data' in part))
  return (
    <>
      <p class="talk-head">
        <span class="talk-who">{agent}</span>
        <State state={item.state} />
        {time}
      </p>
      <div class="talk-bubble">
        {parts.map((part, index) => (
          <PartView key={index} part={part} byAgent={true} />
        ))}
        {parts.length === 0 && <p>{isAuth ? 'The agent needs credentials.' : 'The agent asks for more.'}</p>}
        {item.message !== undefined && <References message={item.message} />}
      </div>
    </>
  )
}

interface MadeProps {
  readonly artifact: Artifact
  readonly isWhole: boolean
  readonly agent: string
  readonly time: Element
}

function Made({ artifact, isWhole, agent, time }: MadeProps) {
  const { name, description, parts } = artifact
  const text = parts.map((part) => ('text' in part ? part.text : '')).join('')
  return (
    <article aria-label={name ?? `Answer of ${agent}`}>
      <p class="talk-head">
        <span class="talk-who">{agent}</span>
        {name !== undefined && <span class="talk-name cut">{name}</span>}
        {time}
        {text !== '' && <Copy text={text} label="Copy the text" />}
      </p>
      {description !== undefined && (
        <p class="talk-about" dir="auto">
          {description}
        </p>
      )}
      <div class={isWhole ? 'talk-bubble' : 'talk-bubble growing'}>
        {parts.map((part, index) => (
          <PartView key={index} part={part} byAgent={true} isWhole={isWhole || index < parts.length - 1} />
        ))}
      </div>
    </article>
  )
}

function Ended({ item, time }: Of<'ended'>) {
  const { state, message, tookMs } = item
  const { tone, shape, word } = lookOf(state)
  return (
    <>
      <span class={`talk-end ${tone}`}>
        <span aria-hidden="true">{shape}</span> {word}
        {tookMs !== undefined && <span class="faint"> in {duration(tookMs)}</span>}
      </span>
      {time}
      {message !== undefined && (
        <div class={`talk-reason ${tone}`}>
          <Parts message={message} byAgent={true} />
        </div>
      )}
    </>
  )
}
