/** Checks the draft on the hub, debounced: its problems, its effects, and the other form of what was edited. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callAdmin } from '../../../api/admin-client.ts'
import type { EntryDraft, EntryReviewResult } from './entry-draft.ts'

export interface EntryReviewState {
  readonly state: 'unchanged' | 'checking' | 'checked' | 'failed'
  /** Of this draft, or of the previous one while this one is being checked. */
  readonly result: EntryReviewResult
  readonly reason?: unknown
}

const settleMs = 300
const againMs = 2_000

export function useEntryReview(
  agent: string,
  saved: EntryReviewResult,
  draft: EntryDraft | undefined,
): EntryReviewState {
  const done = useSignal<{ draft: EntryDraft; result: EntryReviewResult; reason?: unknown } | undefined>(undefined)
  const tries = useSignal(0)
  useEffect(() => {
    if (draft === undefined) return
    const stop = new AbortController()
    let again: ReturnType<typeof setTimeout> | undefined
    const { text, entry } = draft
    const timer = setTimeout(() => {
      const body = { text, ...(entry === undefined ? {} : { entry: { ...entry } }) }
      void callAdmin('reviewAgent', { params: { agent }, body, signal: stop.signal }).then(
        (result) => (done.value = { draft, result }),
        (reason: unknown) => {
          if (stop.signal.aborted) return
          done.value = { draft, result: done.peek()?.result ?? saved, reason }
          again = setTimeout(() => (tries.value += 1), againMs)
        },
      )
    }, settleMs)
    return () => {
      clearTimeout(timer)
      clearTimeout(again)
      stop.abort()
    }
  }, [draft, tries.value])
  if (draft === undefined) return { state: 'unchanged', result: saved }
  const known = done.value
  if (known?.draft !== draft) return { state: 'checking', result: known?.result ?? saved }
  return known.reason === undefined
    ? { state: 'checked', result: known.result }
    : { state: 'failed', result: known.result, reason: known.reason }
}
