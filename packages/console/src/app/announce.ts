/** Messages for screen readers (a polite live region) and short toasts at the foot of the page. */
import { signal } from '@preact/signals'

export const announcement = signal<{ readonly text: string; readonly isShown: boolean } | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined
const toastMs = 3_000

/** For screen readers only. */
export function announce(text: string): void {
  announcement.value = { text, isShown: false }
}

/** For screen readers and on screen. */
export function showToast(text: string): void {
  announcement.value = { text, isShown: true }
  clearTimeout(timer)
  timer = setTimeout(() => {
    announcement.value = undefined
  }, toastMs)
}
