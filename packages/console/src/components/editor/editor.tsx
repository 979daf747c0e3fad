/**
 * A text editor with line numbers: a plain textarea, so that the browser's undo, selection, input methods and screen reader
 * support work. Its text is transparent; the coloured text, problems and matches are drawn in a layer below it.
 */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { CompletionPopup, useCompletion } from './completion-popup.tsx'
import type { ConfigSchema } from './config-schema.ts'
import { ColouredLines } from './coloured-lines.tsx'
import { applyEdit, lineTop } from './editor-field.ts'
import { FoundMarks, ProblemMarks, ProblemSigns, type FindMatches, type LineProblem } from './editor-marks.tsx'
import { HintBar, HoverHint, useHoverHint } from './schema-hint-view.tsx'
import { schemaHintAt } from './schema-hint.ts'
import { countLines, indent, newLine, outdent, positionAt, type TextEdit } from './text-edits.ts'
import './editor.css'

export interface EditorProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly label: string
  readonly text: string
  /** Omitted if the text is read-only. */
  readonly onInput?: (text: string) => void
  readonly problems?: readonly LineProblem[]
  readonly found?: FindMatches | undefined
  readonly schema?: ConfigSchema | undefined
  readonly describedBy?: string
  readonly id?: string
}

export function Editor(props: EditorProps) {
  const { field, label, text, onInput, problems = [], found, schema, describedBy, id } = props
  const scroll = useSignal({ top: 0, left: 0 })
  const cursor = useSignal(0)
  const isFree = useRef(false)
  const offers = useCompletion(field, schema)
  const hover = useHoverHint(field, schema)
  const lines = countLines(text)
  const at = Math.min(cursor.value, text.length)
  const hint = useMemo(() => (schema === undefined ? undefined : schemaHintAt(text, at, schema)), [text, at, schema])

  useLayoutEffect(() => {
    const element = field.current
    if (element !== null) scroll.value = { top: element.scrollTop, left: element.scrollLeft }
  }, [text])

  function press(event: KeyboardEvent): void {
    const element = field.current
    hover.close()
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
    if (element !== null) cursor.value = element.selectionStart
  }

  const { top, left } = scroll.value
  const moveBy = { transform: `translate(${-left}px, ${-top}px)` }
  const down = { transform: `translateY(${-top}px)` }
  const { line, column } = positionAt(text, at)
  return (
    <div class="editor">
      <div class="editor-body">
        <div class="editor-gutter" aria-hidden="true">
          <pre style={down}>{Array.from({ length: lines }, (_, index) => index + 1).join('\n')}</pre>
          <div class="editor-layer" style={{ ...down, left: 0 }}>
            <ProblemSigns problems={problems} />
          </div>
        </div>
        <div class="editor-field">
          <div class="editor-layer" style={moveBy} aria-hidden="true">
            <div class="editor-line-mark" style={{ top: lineTop(line) }} />
            <ProblemMarks text={text} problems={problems} />
            {found !== undefined && <FoundMarks text={text} found={found} />}
            <ColouredLines text={text} field={field} scrollTop={top} />
          </div>
          <textarea
            ref={field}
            id={id}
            aria-label={label}
            aria-describedby={describedBy}
            aria-invalid={problems.length > 0}
            value={text}
            readOnly={onInput === undefined}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            wrap="off"
            onInput={(event) => {
              onInput?.(event.currentTarget.value)
              moved()
              offers.typed(event)
            }}
            onKeyDown={press}
            onSelect={moved}
            onKeyUp={moved}
            onClick={moved}
            onBlur={() => {
              offers.close()
              hover.close()
            }}
            onPointerMove={hover.moved}
            onPointerLeave={hover.close}
            onScroll={({ currentTarget: { scrollTop, scrollLeft } }) => {
              scroll.value = { top: scrollTop, left: scrollLeft }
              hover.close()
            }}
          />
          <CompletionPopup offers={offers} text={text} field={field} style={moveBy} />
          {offers.open === undefined && <HoverHint hover={hover} />}
        </div>
      </div>
      <div class="editor-foot">
        <HintBar hint={hint} />
        <span class="editor-position">
          Line {line}, column {column}
        </span>
      </div>
    </div>
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
