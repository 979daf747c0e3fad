/** The current session. Separate from the calls that determine it, because they read it themselves. */
import { signal } from '@preact/signals'
import type { Session } from './admin.ts'

/** `looking`: the hub has not been asked yet. */
export const session = signal<'looking' | 'none' | Session>('looking')

export function csrfToken(): string {
  const known = session.value
  return typeof known === 'object' ? (known.csrf ?? '') : ''
}

/** The caller of tasks that the user of the console sends. */
export function consoleCaller(): string {
  const known = session.value
  return `console|${typeof known === 'object' ? known.subject : ''}`
}

/** The session ended without a sign-out: it expired, or an operator ended it. */
export const hasSessionEnded = signal(false)

/** The hub no longer accepts the session cookie. */
export function markSignedOut(): void {
  if (typeof session.peek() === 'object') hasSessionEnded.value = true
  session.value = 'none'
}
