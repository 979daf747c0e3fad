/** What is wrong with the text, each with the line to go to. */
import { Mark } from '../../../parts/state.tsx'
import { Trouble } from '../../../parts/trouble.tsx'
import { many } from '../../../parts/words.ts'
import type { Check } from './use-check.ts'

export interface ProblemsProps {
  readonly check: Check
  readonly isEdited: boolean
  readonly jump: (line: number) => void
  readonly reload: () => void
}

export function Problems({ check, isEdited, jump, reload }: ProblemsProps) {
  const { state, problems, reason } = check
  return (
    <section class="config-problems" aria-label="What is wrong">
      <p id="config-check" role="status">
        <Verdict check={check} isEdited={isEdited} />
      </p>
      {state === 'failed' && <Trouble reason={reason} retry={reload} />}
      {problems.length > 0 && (
        <ul>
          {problems.map(({ path, line, message }, index) => (
            <li key={index}>
              {line === undefined ? (
                <p class="config-problem">
                  <Words path={path} message={message} />
                </p>
              ) : (
                <button type="button" class="plain config-problem" onClick={() => jump(line)}>
                  <span class="config-line">line {line}</span>
                  <Words path={path} message={message} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Words({ path, message }: { readonly path: string; readonly message: string }) {
  return (
    <span>
      {path !== '' && <code>{path}</code>} {message}
    </span>
  )
}

function Verdict({ check, isEdited }: { readonly check: Check; readonly isEdited: boolean }) {
  if (!isEdited) return <Mark tone="ended" shape="–" word="as the hub has it" />
  if (check.state === 'failed') return <Mark tone="failed" shape="✕" word="could not be checked" />
  if (check.problems.length > 0) {
    return <Mark tone="failed" shape="✕" word={many(check.problems.length, 'mistake')} />
  }
  if (check.state === 'checking') return <Mark tone="working" shape="○" word="checking" />
  return <Mark tone="done" shape="●" word="no mistakes; not applied yet" />
}
