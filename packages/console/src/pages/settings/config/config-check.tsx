/** Validates the text on the hub, debounced, and shows its errors, each with a link to its line. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../../../api/admin-client.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'

type ConfigProblem = AdminResponse<'checkConfig'>['problems'][number]

interface ConfigCheck {
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

export interface ConfigProblemsProps {
  readonly check: ConfigCheck
  readonly isEdited: boolean
  readonly jump: (line: number) => void
  readonly reload: () => void
}

export function ConfigProblems({ check, isEdited, jump, reload }: ConfigProblemsProps) {
  const { state, problems, reason } = check
  return (
    <section class="config-problems" aria-label="Issues">
      <p id="config-check" role="status">
        <CheckStatus check={check} isEdited={isEdited} />
      </p>
      {state === 'failed' && <ErrorNotice reason={reason} retry={reload} />}
      {problems.length > 0 && (
        <ul>
          {problems.map(({ path, line, message }, index) => (
            <li key={index}>
              {line === undefined ? (
                <p class="config-problem">
                  <ProblemText path={path} message={message} />
                </p>
              ) : (
                <button type="button" class="plain config-problem" onClick={() => jump(line)}>
                  <span class="config-line">Line {line}</span>
                  <ProblemText path={path} message={message} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function ProblemText({ path, message }: { readonly path: string; readonly message: string }) {
  return (
    <span>
      {path !== '' && <code>{path}</code>} {message}
    </span>
  )
}

function CheckStatus({ check, isEdited }: { readonly check: ConfigCheck; readonly isEdited: boolean }) {
  if (!isEdited) return <StatusBadge tone="ended" shape="–" word="No unsaved changes" />
  if (check.state === 'failed') return <StatusBadge tone="failed" shape="✕" word="Could not be checked" />
  if (check.problems.length > 0) {
    return (
      <StatusBadge
        tone="failed"
        shape="✕"
        word={check.problems.length === 1 ? '1 error' : `${check.problems.length} errors`}
      />
    )
  }
  if (check.state === 'checking') return <StatusBadge tone="working" shape="○" word="Checking…" />
  return <StatusBadge tone="done" shape="●" word="Valid, not applied yet" />
}
