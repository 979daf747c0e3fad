/** The items of a transcript. Of a long conversation only the end is shown, and more on demand. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Icon } from '../components/icon.tsx'
import { ClockTime } from '../components/time.tsx'
import { formatCount, pluralize } from '../components/format.ts'
import { collapseStatusLines } from './collapse-status-lines.ts'
import type { TranscriptItem, Transcript } from './transcript.ts'
import { TranscriptItemBody } from './transcript-item.tsx'
import './transcript-view.css'

export interface TranscriptViewProps {
  readonly transcript: Transcript
  readonly agent: string
  /** The user of the console wrote the messages, and not another caller. */
  readonly isOwn?: boolean
  /** A stream is open: more may arrive. */
  readonly isBusy?: boolean
  /** Seq of an event. */
  readonly selected?: number | undefined
  readonly onSelect?: ((seq: number) => void) | undefined
}

const rowsPerPage = 200

export function TranscriptView({
  transcript,
  agent,
  isOwn = true,
  isBusy = false,
  selected,
  onSelect,
}: TranscriptViewProps) {
  const shown = useSignal(rowsPerPage)
  const opened = useSignal<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => collapseStatusLines(transcript.items, opened.value), [transcript.items, opened.value])
  const wanted =
    selected === undefined ? -1 : rows.findIndex((row) => 'item' in row && row.item.seqs.includes(selected))
  const first = Math.max(0, Math.min(rows.length - shown.value, wanted < 0 ? rows.length : wanted))
  return (
    <ol class="stack talk">
      {first > 0 && (
        <li>
          <button type="button" class="small" onClick={() => (shown.value += rowsPerPage * 5)}>
            Show {formatCount(Math.min(first, rowsPerPage * 5))} of {formatCount(first)} earlier
          </button>
        </li>
      )}
      {rows.slice(first).map((row) =>
        'item' in row ? (
          <TranscriptItemRow
            key={row.item.key}
            item={row.item}
            agent={agent}
            isOwn={isOwn}
            isBusy={isBusy}
            isSelected={selected !== undefined && row.item.seqs.includes(selected)}
            onSelect={onSelect}
          />
        ) : (
          <li key={row.key} class="talk-more">
            <button type="button" class="small" onClick={() => (opened.value = new Set([...opened.value, row.key]))}>
              <Icon name="more" size={14} /> {pluralize(row.hidden, 'more line')}
            </button>
          </li>
        ),
      )}
    </ol>
  )
}

interface TranscriptRowProps {
  readonly item: TranscriptItem
  readonly agent: string
  readonly isOwn: boolean
  readonly isBusy: boolean
  readonly isSelected: boolean
  readonly onSelect: ((seq: number) => void) | undefined
}

function TranscriptItemRow({ item, agent, isOwn, isBusy, isSelected, onSelect }: TranscriptRowProps) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isSelected) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  const isPending = item.kind === 'said' && item.isPending === true
  return useMemo(
    () => (
      <li ref={element} class={`talk-${item.kind} ${sideOf(item)}`} aria-current={isSelected ? 'true' : undefined}>
        <TranscriptItemBody
          item={item}
          agent={agent}
          isOwn={isOwn}
          isBusy={isBusy}
          time={<ItemTime item={item} onSelect={onSelect} />}
        />
      </li>
    ),
    [item, agent, isOwn, isPending && isBusy, isSelected, onSelect],
  )
}

function sideOf(item: TranscriptItem): string {
  return item.kind === 'said' && item.message.role === 'ROLE_USER' ? 'mine' : 'theirs'
}

function ItemTime({ item, onSelect }: Pick<TranscriptRowProps, 'onSelect'> & { readonly item: TranscriptItem }) {
  const { at } = item
  const seq = item.seqs[0]
  const clock = at === undefined ? null : <ClockTime at={at} />
  if (onSelect === undefined || seq === undefined) return <span class="talk-time">{clock}</span>
  return (
    <button type="button" class="talk-time small plain" title={`Event ${seq}`} onClick={() => onSelect(seq)}>
      {clock ?? seq}
    </button>
  )
}
