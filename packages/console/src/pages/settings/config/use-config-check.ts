/** Validates the text on the hub, debounced. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callAdmin } from '../../../api/admin-client.ts'
import type { AdminResponse } from '../../../api/admin-client.ts'

export type ConfigProblem = AdminResponse<'checkConfig'>['problems'][number]

export interface ConfigCheck {
  /** `checking`: this text has no result yet. `failed`: the hub did not answer. */
  readonly state: 'idle' | 'checking' | 'checked' | 'failed'
  /** Of this text, or of the previous one while this one is being checked. */
  readonly problems: readonly ConfigProblem[]
  readonly reason?: unknown
}

const settleMs = 350
const againMs = 2_000

export function useConfigCheck(text: string, isEdited: boolean): ConfigCheck {
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
      void callAdmin('checkConfig', { body: { text }, signal: stop.signal }).then(
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
