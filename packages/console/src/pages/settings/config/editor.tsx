/**
 * A text editor with line numbers: a plain textarea, so that the browser's undo, selection, spell checking and screen reader
 * support work. Marks are drawn in a layer below it.
 */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { countLines, indent, newLine, outdent, positionAt, type TextEdit, type TextPosition } from './text-edits.ts'
import { applyEdit, lineTop } from './editor-field.ts'
import { CompletionPopup, useCompletion } from './completion-popup.tsx'
import type { ConfigSchema } from './completion.ts'
import './editor.css'

export interface FindMatches {
  readonly offsets: readonly number[]
  readonly length: number
  /** Index of the current match. */
  readonly at: number
}

export interface EditorProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly label: string
  readonly text: string
  /** Omitted if the text is read-only. */
  readonly onInput?: (text: string) => void
  readonly onPositionChange?: (spot: TextPosition) => void
  /** Lines with errors. */
  readonly errorLines?: readonly number[]
  readonly found?: FindMatches | undefined
  readonly schema?: ConfigSchema | undefined
  readonly describedBy?: string
}

export function Editor(props: EditorProps) {
  const { field, label, text, onInput, onPositionChange, errorLines = [], found, schema, describedBy } = props
  const scroll = useSignal({ top: 0, left: 0 })
  const isFree = useRef(false)
  const offers = useCompletion(field, schema)
  const lines = countLines(text)

  useLayoutEffect(() => {
    const element = field.current
    if (element !== null) scroll.value = { top: element.scrollTop, left: element.scrollLeft }
  }, [text])

  function press(event: KeyboardEvent): void {
    const element = field.current
    if (element === null || onInput === undefined || event.isComposing || event.altKey) return
    if (offers.press(event)) return
    // Keyboard users must be able to leave the field: Esc, then Tab.
    if (event.key === 'Escape') isFree.current = true
    const edit = isFree.current && event.key === 'Tab' ? undefined : editForKey(event, element)
    if (event.key !== 'Escape' && event.key !== 'Shift') isFree.current = false
    if (edit === undefined) return
    event.preventDefault()
    applyEdit(element, edit)
  }

  function moved(): void {
    const element = field.current
    if (element !== null) onPositionChange?.(positionAt(element.value, element.selectionStart))
  }

  const { top, left } = scroll.value
  const moveBy = { transform: `translate(${-left}px, ${-top}px)` }
  const down = { transform: `translateY(${-top}px)` }
  return (
    <div class="editor">
      <div class="editor-gutter" aria-hidden="true">
        <pre style={down}>{Array.from({ length: lines }, (_, index) => index + 1).join('\n')}</pre>
        <div class="editor-layer" style={{ ...down, left: 0 }}>
          {errorLines.map((line) => (
            <span key={line} class="editor-sign" style={{ top: lineTop(line) }}>
              ✕
            </span>
          ))}
        </div>
      </div>
      <div class="editor-field">
        <div class="editor-layer" style={moveBy} aria-hidden="true">
          {errorLines.map((line) => (
            <div key={line} class="editor-mark" style={{ top: lineTop(line) }} />
          ))}
          {found !== undefined && <FoundMarks text={text} found={found} />}
        </div>
        <textarea
          ref={field}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={errorLines.length > 0}
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
        <CompletionPopup offers={offers} text={text} style={moveBy} />
      </div>
    </div>
  )
}

/** Limit on rendered marks. */
const maxMarks = 200

function FoundMarks({ text, found }: { readonly text: string; readonly found: FindMatches }) {
  const from = Math.max(0, found.at - maxMarks / 2)
  return (
    <>
      {found.offsets.slice(from, from + maxMarks).map((offset, index) => {
        const { line, column } = positionAt(text, offset)
        return (
          <div
            key={offset}
            class={from + index === found.at ? 'editor-found here' : 'editor-found'}
            style={{ top: lineTop(line), left: `${column - 1}ch`, width: `${found.length}ch` }}
          />
        )
      })}
    </>
  )
}

function editForKey(
  event: KeyboardEvent,
  { value, selectionStart, selectionEnd }: HTMLTextAreaElement,
): TextEdit | undefined {
  if (event.metaKey || event.ctrlKey) return undefined
  if (event.key === 'Tab') return (event.shiftKey ? outdent : indent)(value, selectionStart, selectionEnd)
  if (event.key === 'Enter' && !event.shiftKey) return newLine(value, selectionStart, selectionEnd)
  return undefined
}
