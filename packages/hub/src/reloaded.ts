/** What came of applying a configuration while the hub runs. */
import type { Changes } from './registry.ts'

export interface Reloaded extends Changes {
  /** Sections that changed, and hold. */
  readonly applied: readonly string[]
  /** What changed and only holds after a restart. */
  readonly restart: readonly string[]
}
