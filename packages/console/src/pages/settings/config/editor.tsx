/**
 * A text with line numbers: a plain field, so that the browser's own undo, selection, spelling and screen reader work as
 * everywhere. Marks lie under it.
 */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { countLines, indent, newLine, outdent, spotAt } from './edit-text.ts'
import type { Edit, Spot } from './edit-text.ts'
import { applyEdit, topOf } from './editor-field.ts'
import { Offered, useOffers } from './offers.tsx'
import type { Schema } from './completion.ts'
import './editor.css'

export interface Found {
  readonly offsets: readonly number[]
  readonly length: number
  /** Which of them one is at. */
  readonly at: number
}

export interface EditorProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly label: string
  readonly text: string
  /** Nothing: it is only read. */
  readonly onInput?: (text: string) => void
  readonly onSpot?: (spot: Spot) => void
  /** Lines that something is wrong with. */
  readonly wrong?: readonly number[]
  readonly found?: Found | undefined
  readonly schema?: Schema | undefined
  readonly describedBy?: string
}

export function Editor(props: EditorProps) {
  const { field, label, text, onInput, onSpot, wrong = [], found, schema, describedBy } = props
  const scroll = useSignal({ top: 0, left: 0 })
  const isFree = useRef(false)
  const offers = useOffers(field, schema)
  const lines = countLines(text)

  useLayoutEffect(() => {
    const element = field.current
    if (element !== null) scroll.value = { top: element.scrollTop, left: element.scrollLeft }
  }, [text])

  function press(event: KeyboardEvent): void {
    const element = field.current
    if (element === null || onInput === undefined || event.isComposing || event.altKey) return
    if (offers.press(event)) return
    // Who uses no mouse must get out again: Esc, then Tab.
    if (event.key === 'Escape') isFree.current = true
    const edit = isFree.current && event.key === 'Tab' ? undefined : editOf(event, element)
    if (event.key !== 'Escape' && event.key !== 'Shift') isFree.current = false
    if (edit === undefined) return
    event.preventDefault()
    applyEdit(element, edit)
  }

  function moved(): void {
    const element = field.current
    if (element !== null) onSpot?.(spotAt(element.value, element.selectionStart))
  }

  const { top, left } = scroll.value
  const moveBy = { transform: `translate(${-left}px, ${-top}px)` }
  const down = { transform: `translateY(${-top}px)` }
  return (
    <div class="editor">
      <div class="editor-gutter" aria-hidden="true">
        <pre style={down}>{Array.from({ length: lines }, (_, index) => index + 1).join('\n')}</pre>
        <div class="editor-layer" style={{ ...down, left: 0 }}>
          {wrong.map((line) => (
            <span key={line} class="editor-sign" style={{ top: topOf(line) }}>
              ✕
            </span>
          ))}
        </div>
      </div>
      <div class="editor-field">
        <div class="editor-layer" style={moveBy} aria-hidden="true">
          {wrong.map((line) => (
            <div key={line} class="editor-mark" style={{ top: topOf(line) }} />
          ))}
          {found !== undefined && <FoundMarks text={text} found={found} />}
        </div>
        <textarea
          ref={field}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={wrong.length > 0}
          value={text}
          readOnly={onInput === undefined}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          wrap="off"
          onInput={(event) => {
            onInput?.(event.currentTarget.value)
            offers.typed()
          }}
          onKeyDown={press}
          onSelect={moved}
          onKeyUp={moved}
          onClick={moved}
          onBlur={offers.close}
          onScroll={({ currentTarget: { scrollTop, scrollLeft } }) => {
            scroll.value = { top: scrollTop, left: scrollLeft }
          }}
        />
        <Offered offers={offers} text={text} style={moveBy} />
      </div>
    </div>
  )
}

/** More would be drawn than anybody looks at. */
const mostMarks = 200

function FoundMarks({ text, found }: { readonly text: string; readonly found: Found }) {
  const from = Math.max(0, found.at - mostMarks / 2)
  return (
    <>
      {found.offsets.slice(from, from + mostMarks).map((offset, index) => {
        const { line, column } = spotAt(text, offset)
        return (
          <div
            key={offset}
            class={from + index === found.at ? 'editor-found here' : 'editor-found'}
            style={{ top: topOf(line), left: `${column - 1}ch`, width: `${found.length}ch` }}
          />
        )
      })}
    </>
  )
}

function editOf(event: KeyboardEvent, { value, selectionStart, selectionEnd }: HTMLTextAreaElement): Edit | undefined {
  if (event.metaKey || event.ctrlKey) return undefined
  if (event.key === 'Tab') return (event.shiftKey ? outdent : indent)(value, selectionStart, selectionEnd)
  if (event.key === 'Enter' && !event.shiftKey) return newLine(value, selectionStart, selectionEnd)
  return undefined
}
