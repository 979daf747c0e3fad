/** What every view of an agent is given. */
import type { AgentCards, AgentDetail } from '../../api/admin.ts'

export interface TabProps {
  readonly agent: AgentDetail
  /** Nothing where the agent could not be opened. */
  readonly cards: AgentCards | undefined
}
