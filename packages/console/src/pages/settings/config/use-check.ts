/** What the hub finds wrong with the text, asked a moment after the last key. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import type { AnswerOf } from '../../../api/call.ts'

export type ConfigProblem = AnswerOf<'checkConfig'>['problems'][number]

export interface Check {
  /** `checking`: of this text nothing is known yet. `failed`: nobody answered. */
  readonly state: 'idle' | 'checking' | 'checked' | 'failed'
  /** Of this text, or of the one before while this one is looked at. */
  readonly problems: readonly ConfigProblem[]
  readonly reason?: unknown
}

const settleMs = 350
const againMs = 2_000

export function useCheck(text: string, isEdited: boolean): Check {
  const done = useSignal<{ text: string; problems: readonly ConfigProblem[]; reason?: unknown }>({
    text: '',
    problems: [],
  })
  const tries = useSignal(0)
  useEffect(() => {
    if (!isEdited) return
    const stop = new AbortController()
    let again: ReturnType<typeof setTimeout> | undefined
    const timer = setTimeout(() => {
      void call('checkConfig', { body: { text }, signal: stop.signal }).then(
        ({ problems }) => (done.value = { text, problems }),
        (reason: unknown) => {
          if (stop.signal.aborted) return
          done.value = { text, problems: [], reason }
          again = setTimeout(() => (tries.value += 1), againMs)
        },
      )
    }, settleMs)
    return () => {
      clearTimeout(timer)
      clearTimeout(again)
      stop.abort()
    }
  }, [text, isEdited, tries.value])
  if (!isEdited) return { state: 'idle', problems: [] }
  const { text: known, problems, reason } = done.value
  if (known !== text) return { state: 'checking', problems }
  return reason === undefined ? { state: 'checked', problems } : { state: 'failed', problems: [], reason }
}
