/** The schema's hint for a key: in a bar below the editor for the cursor, and beside the pointer while it rests on a key. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ConfigSchema } from './config-schema.ts'
import { schemaHintAt, type SchemaHint } from './schema-hint.ts'
import { lineRange } from './text-edits.ts'

export function HintBar({ hint }: { readonly hint: SchemaHint | undefined }) {
  return <p class="editor-hint-bar">{hint !== undefined && <HintText hint={hint} />}</p>
}

function HintText({ hint: { path, type, defaultText, about, isRequired, isSecret } }: { readonly hint: SchemaHint }) {
  const facts = [
    type,
    ...(isRequired ? ['required'] : []),
    ...(defaultText === undefined ? [] : [`default ${defaultText}`]),
  ]
  const text = [about, ...(isSecret ? ['Secret: shown as (not shown), and kept unless you replace it.'] : [])]
    .join(' ')
    .trim()
  return (
    <>
      <span class="mono editor-hint-path">{path}</span> <span class="editor-hint-type">{facts.join(' · ')}</span>
      {text !== '' && <span> — {text}</span>}
    </>
  )
}

export interface HoverHintState {
  readonly open: { readonly hint: SchemaHint; readonly x: number; readonly y: number } | undefined
  moved(event: PointerEvent): void
  close(): void
}

const restMs = 350
const padding = { top: 8, left: 12 }

export function useHoverHint(
  field: RefObject<HTMLTextAreaElement | null>,
  schema: ConfigSchema | undefined,
): HoverHintState {
  const open = useSignal<HoverHintState['open']>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function close(): void {
    clearTimeout(timer.current)
    if (open.peek() !== undefined) open.value = undefined
  }

  function show(clientX: number, clientY: number): void {
    const element = field.current
    if (element === null || schema === undefined) return
    const offset = offsetAtPoint(element, clientX, clientY)
    const hint = offset === undefined ? undefined : schemaHintAt(element.value, offset, schema)
    const { left, top } = element.getBoundingClientRect()
    if (hint !== undefined) open.value = { hint, x: clientX - left, y: clientY - top }
  }

  return {
    open: open.value,
    close,
    moved({ clientX, clientY, buttons, pointerType }) {
      close()
      if (buttons !== 0 || pointerType === 'touch') return
      timer.current = setTimeout(() => show(clientX, clientY), restMs)
    },
  }
}

/** The character below a point; `undefined` beside the text of the line. The font has a fixed width. */
function offsetAtPoint(field: HTMLTextAreaElement, clientX: number, clientY: number): number | undefined {
  const { left, top } = field.getBoundingClientRect()
  const { lineHeight, fontSize, fontFamily } = getComputedStyle(field)
  const pen = document.createElement('canvas').getContext('2d')
  if (pen === null) return undefined
  pen.font = `${fontSize} ${fontFamily}`
  const width = pen.measureText('0'.repeat(100)).width / 100
  const line = Math.floor((clientY - top + field.scrollTop - padding.top) / Number.parseFloat(lineHeight)) + 1
  const column = Math.floor((clientX - left + field.scrollLeft - padding.left) / width)
  const { from, to } = lineRange(field.value, line)
  return column < 0 || from + column >= to ? undefined : from + column
}

export function HoverHint({ hover: { open } }: { readonly hover: HoverHintState }) {
  if (open === undefined) return null
  const { hint, x, y } = open
  return (
    <div
      class="editor-hover"
      role="tooltip"
      style={{ left: `clamp(8px, ${x}px, calc(100% - 348px))`, top: `${y + 16}px` }}
    >
      <HintText hint={hint} />
    </div>
  )
}
