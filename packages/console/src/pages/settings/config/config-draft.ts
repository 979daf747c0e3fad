/**
 * The edited configuration. Kept in the memory of this tab only, also while other pages are shown: it may contain secrets that
 * are typed and not yet applied.
 */
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import type { AdminResponse } from '../../../api/admin-client.ts'
import type { Resource } from '../../../api/resource.ts'
import { registerUnsavedWork } from '../../../api/session.ts'

export type ConfigText = AdminResponse<'getConfig'>
/** `no-file`: the hub was started without a configuration file. */
export type ConfigResource = Resource<ConfigText | 'no-file'>

/** The configuration when editing started. */
export const baseConfig = signal<ConfigText | undefined>(undefined)
const editedText = signal<string | undefined>(undefined)
/** The current configuration, if another user changed it meanwhile. */
export const conflictingConfig = signal<ConfigText | undefined>(undefined)

export const draftText: ReadonlySignal<string> = computed(() => editedText.value ?? baseConfig.value?.text ?? '')
export const isDraftEdited: ReadonlySignal<boolean> = computed(
  () => editedText.value !== undefined && editedText.value !== baseConfig.value?.text,
)

export function setDraftText(changed: string): void {
  editedText.value = changed
}

/** Takes the current configuration of the hub. A draft is not replaced. */
export function receiveConfig(found: ConfigText): void {
  if (found.hash === baseConfig.peek()?.hash) {
    conflictingConfig.value = undefined
    return
  }
  if (isDraftEdited.peek()) conflictingConfig.value = found
  else resetDraft(found)
}

/** Replaces the draft with the configuration of the hub. */
export function resetDraft(found: ConfigText): void {
  baseConfig.value = found
  editedText.value = undefined
  conflictingConfig.value = undefined
}

export function discardDraft(): void {
  const found = conflictingConfig.peek() ?? baseConfig.peek()
  if (found !== undefined) resetDraft(found)
}

/** Keeps the draft and bases it on the conflicting configuration, which the user has reviewed. */
export function rebaseDraft(): void {
  const found = conflictingConfig.peek()
  if (found === undefined) return
  baseConfig.value = found
  conflictingConfig.value = undefined
}

function warnBeforeUnload(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

effect(() => {
  if (!isDraftEdited.value) return
  addEventListener('beforeunload', warnBeforeUnload)
  const release = registerUnsavedWork({
    text: 'Your changes to the configuration are not applied. They are lost when you sign out.',
    discard: discardDraft,
  })
  return () => {
    removeEventListener('beforeunload', warnBeforeUnload)
    release()
  }
})
