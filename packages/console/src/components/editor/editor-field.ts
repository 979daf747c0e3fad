/** Operations on the textarea of the editor: edits and selections. */
import { positionAt, type TextEdit } from './text-edits.ts'

/** Offset of a line in the layers under the field. */
export function lineTop(line: number): string {
  return `calc(var(--editor-line) * ${line - 1})`
}

/** Edits as if typed, so that the browser can undo it. */
export function applyEdit(field: HTMLTextAreaElement, { from, to, insert, selectFrom, selectTo }: TextEdit): void {
  if (field.value.slice(from, to) !== insert) {
    field.setSelectionRange(from, to)
    if (!document.execCommand(insert === '' ? 'delete' : 'insertText', false, insert)) {
      field.setRangeText(insert, from, to)
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
  }
  field.setSelectionRange(selectFrom, selectTo)
}

/** Scrolls the range to the middle and selects it. */
export function showRange(field: HTMLTextAreaElement, from: number, to: number, withFocus: boolean): void {
  const height = Number.parseFloat(getComputedStyle(field).lineHeight)
  const { line } = positionAt(field.value, from)
  field.setSelectionRange(from, to)
  if (withFocus) field.focus({ preventScroll: true })
  field.scrollTop = (line - 1) * height - field.clientHeight / 2
  field.scrollLeft = 0
}
