/** Who is signed in. Apart from the calls that find it out, which need it themselves. */
import { signal } from '@preact/signals'
import type { Session } from './admin.ts'

/** `looking`: nobody has been asked yet. */
export const session = signal<'looking' | 'none' | Session>('looking')

export function csrfToken(): string {
  const known = session.value
  return typeof known === 'object' ? (known.csrf ?? '') : ''
}

/** The hub says that the cookie opens nothing any more. */
export function sessionEnded(): void {
  session.value = 'none'
}
