/** The errors of the text, each with a link to its line. */
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { pluralize } from '../../../components/format.ts'
import type { ConfigCheck } from './use-config-check.ts'

export interface ConfigProblemsProps {
  readonly check: ConfigCheck
  readonly isEdited: boolean
  readonly jump: (line: number) => void
  readonly reload: () => void
}

export function ConfigProblems({ check, isEdited, jump, reload }: ConfigProblemsProps) {
  const { state, problems, reason } = check
  return (
    <section class="config-problems" aria-label="What is wrong">
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
                  <span class="config-line">line {line}</span>
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
  if (!isEdited) return <StatusBadge tone="ended" shape="–" word="as the hub has it" />
  if (check.state === 'failed') return <StatusBadge tone="failed" shape="✕" word="could not be checked" />
  if (check.problems.length > 0) {
    return <StatusBadge tone="failed" shape="✕" word={pluralize(check.problems.length, 'mistake')} />
  }
  if (check.state === 'checking') return <StatusBadge tone="working" shape="○" word="checking" />
  return <StatusBadge tone="done" shape="●" word="no mistakes; not applied yet" />
}
