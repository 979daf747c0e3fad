/** An agent that cannot take messages now, and why: shown before a message is written in vain, and beside one that failed. */
import type { Agent } from '../../api/admin.ts'
import { agentLook, lastErrorOf } from '../agents/agent-look.ts'
import { agentPath } from '../agents/agent-path.ts'
import { Note } from '../agents/note.tsx'

export function AgentNotice({ agent }: { readonly agent: Agent }) {
  const { word, why } = agentLook(agent)
  if (word === 'up' || word === 'slow') return null
  return (
    <Note tone="failed">
      {agent.name} is {word}: {why ?? lastErrorOf(agent)?.text ?? 'the reason is not known'}{' '}
      <a href={agentPath(agent.name)}>Open the agent</a>
    </Note>
  )
}
