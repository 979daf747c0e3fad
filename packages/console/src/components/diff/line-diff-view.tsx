/** Two texts side by side, or one below the other if space is short; unchanged parts are collapsed. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { useSize } from '../layout/use-size.ts'
import { countChanges, type DiffLine } from './diff.ts'
import { changedPart, diffSections, sideBySide, type DiffSection } from './diff-sections.ts'
import './line-diff-view.css'
import { pluralize } from '../format.ts'

/** Wide enough for a typical line on either side. */
const twoColumnsPx = 840

export interface LineDiffViewProps {
  readonly diff: readonly DiffLine[]
  readonly label: string
  /** Titles of the two sides. */
  readonly before: string
  readonly after: string
}

export function LineDiffView({ diff, label, before, after }: LineDiffViewProps) {
  const pieces = useMemo(() => diffSections(diff), [diff])
  const { added, removed } = countChanges(diff)
  const frame = useRef<HTMLDivElement>(null)
  const isSame = added + removed === 0
  const isWide = useSize(frame, { width: 0, height: 0 }, isSame).value.width >= twoColumnsPx
  if (isSame) return <p class="diff-none soft">No differences.</p>
  return (
    <div ref={frame} class="diff panel">
      <p class="diff-head">
        <span>
          {pluralize(removed, 'line')} removed, {pluralize(added, 'line')} added
        </span>
      </p>
      <div class="diff-scroll" tabIndex={0} role="region" aria-label={label}>
        <table class={isWide ? 'diff-table wide' : 'diff-table'}>
          {isWide && (
            <colgroup>
              <col class="diff-number" />
              <col />
              <col class="diff-number" />
              <col />
            </colgroup>
          )}
          <thead class={isWide ? '' : 'unseen'}>
            <tr>
              <th scope="col" colSpan={isWide ? 2 : 3}>
                {before}
              </th>
              {isWide && (
                <th scope="col" colSpan={2}>
                  {after}
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {pieces.map((piece, index) => (
              <SectionRows key={index} piece={piece} isWide={isWide} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function SectionRows({ piece, isWide }: { readonly piece: DiffSection; readonly isWide: boolean }) {
  const isOpen = useSignal(piece.kind === 'lines')
  if (!isOpen.value) {
    return (
      <tr class="diff-fold">
        <td colSpan={isWide ? 4 : 3}>
          <button type="button" class="plain small" onClick={() => (isOpen.value = true)}>
            {pluralize(piece.lines.length, 'unchanged line')}
          </button>
        </td>
      </tr>
    )
  }
  return isWide ? <WideRows lines={piece.lines} /> : <NarrowRows lines={piece.lines} />
}

function WideRows({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <>
      {sideBySide(lines).map(({ left, right }, index) => (
        <tr key={index}>
          <DiffCell line={left} number={left?.before} other={right?.change === 'added' ? right : undefined} />
          <DiffCell line={right} number={right?.after} other={left?.change === 'removed' ? left : undefined} />
        </tr>
      ))}
    </>
  )
}

interface DiffCellProps {
  readonly line: DiffLine | undefined
  readonly number: number | undefined
  readonly other: DiffLine | undefined
}

function DiffCell({ line, number, other }: DiffCellProps) {
  if (line === undefined) return <td colSpan={2} class="diff-nothing" />
  return (
    <>
      <td class={`diff-number ${line.change}`}>{number}</td>
      <td class={`diff-text ${line.change}`}>
        <Sign line={line} />
        <Text line={line} other={other} />
      </td>
    </>
  )
}

function NarrowRows({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <>
      {lines.map((line, index) => (
        <tr key={index}>
          <td class={`diff-number ${line.change}`}>{line.before}</td>
          <td class={`diff-number ${line.change}`}>{line.after}</td>
          <td class={`diff-text ${line.change}`}>
            <Sign line={line} />
            <Text line={line} other={undefined} />
          </td>
        </tr>
      ))}
    </>
  )
}

const signs = { same: ' ', added: '+', removed: '−' }

function Sign({ line }: { readonly line: DiffLine }) {
  return (
    <>
      <span class="diff-sign" aria-hidden="true">
        {signs[line.change]}
      </span>
      {line.change !== 'same' && <span class="unseen">{`${line.change}: `}</span>}
    </>
  )
}

function Text({ line, other }: { readonly line: DiffLine; readonly other: DiffLine | undefined }) {
  if (line.change === 'same' || other === undefined) return <span>{line.text}</span>
  const { from, to } = changedPart(line.text, other.text)
  return (
    <span>
      {line.text.slice(0, from)}
      <span class="diff-part">{line.text.slice(from, to)}</span>
      {line.text.slice(to)}
    </span>
  )
}
