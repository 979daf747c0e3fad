/** The last error of an agent: why it cannot take messages now, or which task failed last, and when. */
import { RelativeTime } from '../../components/time.tsx'
import { agentLastError, type LastError } from '../../agent/agent-status.ts'

type AgentWithErrors = Parameters<typeof agentLastError>[0]

export function AgentError({
  agent,
  isLinked = false,
}: {
  readonly agent: AgentWithErrors
  readonly isLinked?: boolean
}) {
  const error = agentLastError(agent)
  if (error === undefined) return <span class="faint agents-none">None</span>
  return (
    <>
      <ErrorText error={error} isLinked={isLinked} />{' '}
      {error.at !== undefined && (
        <span class="faint">
          <RelativeTime at={error.at} />
        </span>
      )}
    </>
  )
}

function ErrorText({ error: { text, taskId }, isLinked }: { readonly error: LastError; readonly isLinked: boolean }) {
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
