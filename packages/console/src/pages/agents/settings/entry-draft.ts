/**
 * The edited settings of agents. Form and text edit the same draft: the hub merges what the form changed into the text, and parses
 * the text for the form. Kept in the memory of this tab only, also while other pages are shown.
 */
import { effect, signal } from '@preact/signals'
import { registerUnsavedWork } from '../../../api/session.ts'
import type { AdminResponse } from '../../../api/admin-client.ts'
import type { Entry } from './setting-values.ts'

export type EntryReviewResult = AdminResponse<'reviewAgent'>

export interface EntryDraft {
  readonly text: string
  /** Set by the form; `undefined` if the text was edited last. */
  readonly entry: Entry | undefined
  /** The hash of the configuration when editing started. */
  readonly base: string
}

const drafts = signal<ReadonlyMap<string, EntryDraft>>(new Map())

export function entryDraft(agent: string): EntryDraft | undefined {
  return drafts.value.get(agent)
}

export function setEntryDraft(agent: string, draft: EntryDraft | undefined): void {
  const next = new Map(drafts.peek())
  if (draft === undefined) next.delete(agent)
  else next.set(agent, draft)
  drafts.value = next
}

function warnBeforeUnload(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

effect(() => {
  const names = [...drafts.value.keys()]
  if (names.length === 0) return
  addEventListener('beforeunload', warnBeforeUnload)
  const release = names.map((name) =>
    registerUnsavedWork({
      text: `Your changes to ${name} are not applied. They are lost when you sign out.`,
      discard: () => setEntryDraft(name, undefined),
    }),
  )
  return () => {
    removeEventListener('beforeunload', warnBeforeUnload)
    for (const one of release) one()
  }
})
