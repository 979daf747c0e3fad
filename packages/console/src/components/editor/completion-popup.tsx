/** Completions from the schema: a list below the cursor, opened with Ctrl-Space or while a word is typed. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { completionAt, type CompletionList } from './completion.ts'
import type { ConfigSchema } from './config-schema.ts'
import { applyEdit, lineTop } from './editor-field.ts'
import { positionAt } from './text-edits.ts'

export interface CompletionState {
  readonly open: CompletionList | undefined
  readonly at: number
  /** Whether the popup handled the key. */
  press(event: KeyboardEvent): boolean
  /** The text changed: compute the completions again, or open them for a word that begins. */
  typed(event: InputEvent): void
  close(): void
  choose(index: number): void
}

export function useCompletion(
  field: RefObject<HTMLTextAreaElement | null>,
  schema: ConfigSchema | undefined,
): CompletionState {
  const open = useSignal<CompletionList | undefined>(undefined)
  const at = useSignal(0)

  function look(): void {
    const element = field.current
    if (element === null || schema === undefined || element.readOnly) return
    open.value = completionAt(element.value, element.selectionStart, schema)
    at.value = 0
  }

  function choose(index: number): void {
    const element = field.current
    const offer = open.value?.items[index]
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
    else if (key === 'ArrowDown') at.value = (at.value + 1) % open.value.items.length
    else if (key === 'ArrowUp') at.value = (at.value + open.value.items.length - 1) % open.value.items.length
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
    typed({ inputType, data, isComposing }) {
      const isWord = inputType === 'insertText' && /^[\w-]$/.test(data ?? '')
      if (open.value !== undefined || (isWord && !isComposing)) look()
    },
    close: () => (open.value = undefined),
    choose,
  }
}

/** As in editor.css. */
const maxHeightPx = 240

export interface CompletionPopupProps {
  readonly offers: CompletionState
  readonly text: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly style: { readonly transform: string }
}

export function CompletionPopup({ offers, text, field, style }: CompletionPopupProps) {
  if (offers.open === undefined) return null
  const { line, column } = positionAt(text, offers.open.from)
  const isAbove = hasMoreSpaceAbove(field.current, line)
  return (
    <div class="editor-layer" style={{ ...style, pointerEvents: 'auto' }}>
      <ul
        class="editor-offers"
        role="listbox"
        aria-label="Completions"
        style={{
          top: lineTop(isAbove ? line : line + 1),
          left: `${column - 1}ch`,
          ...(isAbove ? { transform: 'translateY(-100%)' } : {}),
        }}
      >
        {offers.open.items.slice(0, 50).map(({ label, type, about }, index) => (
          <li
            key={label}
            role="option"
            aria-selected={index === offers.at}
            ref={(element) => {
              if (index === offers.at && element !== null) showInList(element)
            }}
            onPointerDown={(event) => {
              event.preventDefault()
              offers.choose(index)
            }}
          >
            <span class="row">
              <span class="mono">{label}</span>
              {type !== '' && <span class="faint cut">{type}</span>}
            </span>
            {about !== '' && <p>{about}</p>}
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {offers.open.items[offers.at]?.label}: {offers.open.items[offers.at]?.about}
      </p>
    </div>
  )
}

function hasMoreSpaceAbove(field: HTMLTextAreaElement | null, line: number): boolean {
  if (field === null) return false
  const height = Number.parseFloat(getComputedStyle(field).lineHeight)
  const above = (line - 1) * height - field.scrollTop
  const below = field.clientHeight - above - height
  return below < maxHeightPx && above > below
}

/** Scrolls the list alone: scrollIntoView would also move the text below it. */
function showInList(option: HTMLElement): void {
  const list = option.parentElement
  if (list === null) return
  const { offsetTop, offsetHeight } = option
  if (offsetTop < list.scrollTop) list.scrollTop = offsetTop
  else if (offsetTop + offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = offsetTop + offsetHeight - list.clientHeight
}
