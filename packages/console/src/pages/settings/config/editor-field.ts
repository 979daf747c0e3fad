/** What is done to the field of the editor: typed for somebody, shown to somebody. */
import { spotAt } from './edit-text.ts'
import type { Edit } from './edit-text.ts'

/** Where a line stands in the layers under the field. */
export function topOf(line: number): string {
  return `calc(var(--editor-line) * ${line - 1})`
}

/** As if it were typed, so that the browser can undo it. */
export function applyEdit(field: HTMLTextAreaElement, { from, to, insert, selectFrom, selectTo }: Edit): void {
  if (field.value.slice(from, to) !== insert) {
    field.setSelectionRange(from, to)
    if (!document.execCommand(insert === '' ? 'delete' : 'insertText', false, insert)) {
      field.setRangeText(insert, from, to)
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
  }
  field.setSelectionRange(selectFrom, selectTo)
}

/** Into the middle, and selected. */
export function showRange(field: HTMLTextAreaElement, from: number, to: number, withFocus: boolean): void {
  const height = Number.parseFloat(getComputedStyle(field).lineHeight)
  const { line } = spotAt(field.value, from)
  field.setSelectionRange(from, to)
  if (withFocus) field.focus({ preventScroll: true })
  field.scrollTop = (line - 1) * height - field.clientHeight / 2
  field.scrollLeft = 0
}
