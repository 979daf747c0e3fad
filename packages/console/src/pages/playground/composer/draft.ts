/**
 * What the user has typed and not sent, by conversation. It outlives the composer: the user may open another page, or sign in again
 * when the session has ended. Only in the memory of this tab.
 */
import { effect, signal, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { hasSessionEnded, session } from '../../../api/session-state.ts'

export interface Draft {
  readonly text: Signal<string>
  readonly files: Signal<readonly File[]>
  readonly hasData: Signal<boolean>
  readonly data: Signal<string>
}

const drafts = new Map<string, Draft>()

let owner = ''
// Another user, or one who signs out, leaves nothing to the next.
effect(() => {
  const known = session.value
  if (typeof known === 'object' ? known.subject !== owner : known === 'none' && !hasSessionEnded.peek()) drafts.clear()
  if (typeof known === 'object') owner = known.subject
})

/** `initial` replaces the text. A draft of a new conversation, whose `context` is empty, moves to the context that it gets. */
export function useDraft(agent: string, context: string, initial: string): Draft {
  const held = useRef<{ readonly key: string; readonly isNew: boolean; readonly draft: Draft }>(undefined)
  const key = `${agent} ${context}`
  if (held.current?.key !== key) {
    const before = held.current
    const isMoved = before?.isNew === true && !drafts.has(key)
    const draft = (isMoved ? before.draft : drafts.get(key)) ?? emptyDraft()
    if (isMoved) drafts.delete(before.key)
    if (before === undefined && initial !== '') draft.text.value = initial
    for (const [other, { text, files, data }] of drafts)
      if (text.peek() === '' && files.peek().length === 0 && data.peek() === '') drafts.delete(other)
    drafts.set(key, draft)
    held.current = { key, isNew: context === '', draft }
  }
  return held.current.draft
}

/** A message that was not accepted, because the session had ended: its text is a draft again. */
export function restoreDraft(agent: string, context: string, text: string): void {
  const key = `${agent} ${context}`
  const draft = drafts.get(key) ?? emptyDraft()
  if (draft.text.peek() === '') draft.text.value = text
  drafts.set(key, draft)
}

function emptyDraft(): Draft {
  return { text: signal(''), files: signal([]), hasData: signal(false), data: signal('') }
}
