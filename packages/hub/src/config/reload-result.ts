/** The result of applying a configuration while the hub runs. */
import type { AgentChanges } from '../registry/agent-registry.ts'

export interface ReloadResult extends AgentChanges {
  /** Changed sections that took effect. */
  readonly applied: readonly string[]
  /** Changes that take effect after a restart. */
  readonly restart: readonly string[]
}
