/** What the schema offers while one types: a small list under the cursor, asked for with Ctrl-Space. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { completionAt } from './completion.ts'
import type { Offers, Schema } from './completion.ts'
import { spotAt } from './edit-text.ts'
import { applyEdit, topOf } from './editor-field.ts'

export interface OffersState {
  readonly open: Offers | undefined
  readonly at: number
  /** Whether the key was for the list. */
  press(event: KeyboardEvent): boolean
  /** Something was typed: what is offered is another. */
  typed(): void
  close(): void
  choose(index: number): void
}

export function useOffers(field: RefObject<HTMLTextAreaElement | null>, schema: Schema | undefined): OffersState {
  const open = useSignal<Offers | undefined>(undefined)
  const at = useSignal(0)

  function look(): void {
    const element = field.current
    if (element === null || schema === undefined || element.readOnly) return
    open.value = completionAt(element.value, element.selectionStart, schema)
    at.value = 0
  }

  function choose(index: number): void {
    const element = field.current
    const offer = open.value?.offers[index]
    if (element === null || offer === undefined || open.value === undefined) return
    const { from, to } = open.value
    const end = from + offer.insert.length
    applyEdit(element, { from, to, insert: offer.insert, selectFrom: end, selectTo: end })
    open.value = undefined
  }

  function press(event: KeyboardEvent): boolean {
    const { key, ctrlKey } = event
    if (ctrlKey && key === ' ') look()
    else if (open.value === undefined) return false
    else if (key === 'ArrowDown') at.value = (at.value + 1) % open.value.offers.length
    else if (key === 'ArrowUp') at.value = (at.value + open.value.offers.length - 1) % open.value.offers.length
    else if (key === 'Enter' || key === 'Tab') choose(at.value)
    else if (key === 'Escape') open.value = undefined
    else {
      if (key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End') open.value = undefined
      return false
    }
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  return {
    open: open.value,
    at: at.value,
    press,
    typed() {
      if (open.value !== undefined) look()
    },
    close: () => (open.value = undefined),
    choose,
  }
}

export function Offered({
  offers,
  text,
  style,
}: {
  readonly offers: OffersState
  readonly text: string
  readonly style: { readonly transform: string }
}) {
  if (offers.open === undefined) return null
  const { line, column } = spotAt(text, offers.open.from)
  return (
    <div class="editor-layer" style={{ ...style, pointerEvents: 'auto' }}>
      <ul
        class="editor-offers"
        role="listbox"
        aria-label="What the schema knows here"
        style={{ top: topOf(line + 1), left: `${column - 1}ch` }}
      >
        {offers.open.offers.slice(0, 50).map(({ label, about }, index) => (
          <li
            key={label}
            role="option"
            aria-selected={index === offers.at}
            ref={(element) => {
              if (index === offers.at) element?.scrollIntoView({ block: 'nearest' })
            }}
            onPointerDown={(event) => {
              event.preventDefault()
              offers.choose(index)
            }}
          >
            <span class="mono">{label}</span>
            {about !== '' && <p>{about}</p>}
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {offers.open.offers[offers.at]?.label}: {offers.open.offers[offers.at]?.about}
      </p>
    </div>
  )
}
