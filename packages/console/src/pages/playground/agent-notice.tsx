/** Why an agent cannot take messages now: shown before the user writes one, and beside a message that failed. */
import type { Agent } from '../../api/admin.ts'
import { RelativeTime } from '../../components/time.tsx'
import { agentStatus, agentLastError } from '../../agent/agent-status.ts'
import { agentPath } from '../../agent/agent-path.ts'
import { WarningNote } from '../../components/status/warning-note.tsx'

export function AgentNotice({ agent }: { readonly agent: Agent }) {
  const { word, why } = agentStatus(agent)
  if (word === 'up' || word === 'slow') return null
  const { name, startError } = agent
  return (
    <WarningNote tone="failed">
      <p>
        {name} is {word}: {why ?? agentLastError(agent)?.text ?? 'the reason is not known'}
      </p>
      <p>
        {startError !== undefined && (
          <>
            The hub tries to open it again <RelativeTime at={startError.nextTryAt} />.{' '}
          </>
        )}
        <a href={agentPath(name)}>Open the agent</a>
      </p>
    </WarningNote>
  )
}
