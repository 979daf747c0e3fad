/**
 * The configuration that is being edited. It is kept while one looks at other pages, and by this tab alone: it may have secrets
 * in it that were typed and not yet applied.
 */
import { computed, effect, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { AnswerOf } from '../../../api/call.ts'
import { holdUnsaved } from '../../../api/session.ts'

export type ConfigText = AnswerOf<'getConfig'>

/** What was shown when the editing began. */
export const base = signal<ConfigText | undefined>(undefined)
const typed = signal<string | undefined>(undefined)
/** What holds by now, if somebody else changed it meanwhile. */
export const theirs = signal<ConfigText | undefined>(undefined)

export const text: ReadonlySignal<string> = computed(() => typed.value ?? base.value?.text ?? '')
export const isEdited: ReadonlySignal<boolean> = computed(
  () => typed.value !== undefined && typed.value !== base.value?.text,
)

export function type(changed: string): void {
  typed.value = changed
}

/** What the hub has now. Nothing that is being edited is replaced by it. */
export function take(found: ConfigText): void {
  if (found.hash === base.peek()?.hash) {
    theirs.value = undefined
    return
  }
  if (isEdited.peek()) theirs.value = found
  else begin(found)
}

/** With what the hub has, and without what was typed. */
export function begin(found: ConfigText): void {
  base.value = found
  typed.value = undefined
  theirs.value = undefined
}

export function discard(): void {
  const found = theirs.peek() ?? base.peek()
  if (found !== undefined) begin(found)
}

/** Over what somebody else wrote: whoever says so has looked at it. */
export function keepMine(): void {
  const found = theirs.peek()
  if (found === undefined) return
  base.value = found
  theirs.value = undefined
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

effect(() => {
  if (!isEdited.value) return
  addEventListener('beforeunload', warn)
  const release = holdUnsaved({
    text: 'Your changes to the configuration are not applied. They are lost when you sign out.',
    forget: discard,
  })
  return () => {
    removeEventListener('beforeunload', warn)
    release()
  }
})
