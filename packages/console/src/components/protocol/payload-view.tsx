/**
 * What is sent by the protocol, as a tree with its text folded below: a frame of a task, a message of the playground, a card. Several
 * side by side have their differences marked.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { CodeBlock } from '../content/code-block.tsx'
import { CopyButton } from '../content/copy-button.tsx'
import { JsonTreeView } from '../content/json-tree.tsx'
import { formatBytes, pluralize } from '../format.ts'
import { differencesByName } from './payload-diff.ts'
import './payload-view.css'

export interface Payload {
  readonly value: unknown
  /** As it was sent. */
  readonly text: string
  /** What it is, for the button that copies it. */
  readonly about: string
}

export interface PayloadViewProps extends Payload {
  /** The depth to which the tree is open. */
  readonly open?: number
  readonly marks?: ReadonlySet<string>
  /** Folded below the text. */
  readonly children?: ComponentChildren
}

export function PayloadView({ value, text, about, open = 8, marks, children }: PayloadViewProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <JsonTreeView value={value} open={open} {...(marks === undefined ? {} : { changed: marks })} />
      <details class="payload-text" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>As sent, {formatBytes(new Blob([text]).size)}</summary>
        {isOpen.value && (
          <>
            <CodeBlock text={text} label={about} wrap />
            {children}
          </>
        )}
      </details>
    </>
  )
}

export interface NamedPayload extends Payload {
  readonly name: string
  readonly title: string
  /** The accessible name of its column. */
  readonly label: string
  readonly children?: ComponentChildren
}

export interface PayloadColumnsProps {
  readonly payloads: readonly NamedPayload[]
  /** Compared, but not shown. */
  readonly hidden?: readonly NamedPayload[]
  readonly open?: number
}

export function PayloadColumns({ payloads, hidden = [], open }: PayloadColumnsProps) {
  const marks = differencesByName([...payloads, ...hidden])
  const isCompared = payloads.length + hidden.length > 1
  return (
    <div class="payloads" style={{ '--columns': payloads.length }}>
      {payloads.map((payload) => {
        const own = marks.get(payload.name) ?? new Set<string>()
        return (
          <section key={payload.name} class="payload" aria-label={payload.label}>
            <header>
              <h3>{payload.title}</h3>
              <span class="faint cut grow">
                {!isCompared ? '' : own.size === 0 ? 'Same in all' : pluralize(own.size, 'difference')}
              </span>
              <CopyButton text={payload.text} label={`Copy ${payload.about}`} class="plain small">
                Copy
              </CopyButton>
            </header>
            <PayloadView {...payload} marks={own} {...(open === undefined ? {} : { open })} />
          </section>
        )
      })}
    </div>
  )
}
