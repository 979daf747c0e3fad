/** What is said to a screen reader, politely, and to everybody as a short line at the foot of the page. */
import { signal } from '@preact/signals'

export const said = signal<{ readonly text: string; readonly isShown: boolean } | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined
const shownMs = 3_000

/** Heard only. */
export function announce(text: string): void {
  said.value = { text, isShown: false }
}

/** Heard and seen. */
export function tell(text: string): void {
  said.value = { text, isShown: true }
  clearTimeout(timer)
  timer = setTimeout(() => {
    said.value = undefined
  }, shownMs)
}
