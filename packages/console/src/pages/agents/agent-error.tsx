/** The last error of an agent: why it cannot take messages now, or which task failed last, and when. */
import { Ago } from '../../parts/time.tsx'
import type { LastError } from './agent-look.ts'
import { lastErrorOf } from './agent-look.ts'

type Failing = Parameters<typeof lastErrorOf>[0]

export function AgentError({ agent, isLinked = false }: { readonly agent: Failing; readonly isLinked?: boolean }) {
  const error = lastErrorOf(agent)
  if (error === undefined) return <span class="faint agents-none">none</span>
  return (
    <>
      <Text error={error} isLinked={isLinked} />{' '}
      {error.at !== undefined && (
        <span class="faint">
          <Ago at={error.at} />
        </span>
      )}
    </>
  )
}

function Text({ error: { text, taskId }, isLinked }: { readonly error: LastError; readonly isLinked: boolean }) {
  if (isLinked && taskId !== undefined) {
    return (
      <a class="agent-failure" href={`/tasks/${taskId}`}>
        {text}
      </a>
    )
  }
  return (
    <span class="agent-failure" title={text}>
      {text}
    </span>
  )
}
