/** Props of every agent tab. */
import type { AgentCards, AgentDetail } from '../../api/admin.ts'

export interface AgentTabProps {
  readonly agent: AgentDetail
  /** `undefined` if the agent could not be opened. */
  readonly cards: AgentCards | undefined
}
