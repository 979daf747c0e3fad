/** An agent that cannot take messages now, and why: shown before a message is written in vain, and beside one that failed. */
import type { Agent } from '../../api/admin.ts'
import { Ago } from '../../parts/time.tsx'
import { agentLook, lastErrorOf } from '../agents/agent-look.ts'
import { agentPath } from '../agents/agent-path.ts'
import { Note } from '../agents/note.tsx'

export function AgentNotice({ agent }: { readonly agent: Agent }) {
  const { word, why } = agentLook(agent)
  if (word === 'up' || word === 'slow') return null
  const { name, startError } = agent
  return (
    <Note tone="failed">
      <p>
        {name} is {word}: {why ?? lastErrorOf(agent)?.text ?? 'the reason is not known'}
      </p>
      <p>
        {startError !== undefined && (
          <>
            The hub tries to open it again <Ago at={startError.nextTryAt} />.{' '}
          </>
        )}
        <a href={agentPath(name)}>Open the agent</a>
      </p>
    </Note>
  )
}
