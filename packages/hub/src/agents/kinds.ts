/** All agent kinds that a configuration may use: one line each. */
import { demoKind } from '../demo/index.ts'
import { a2aKind } from './a2a/index.ts'
import { acpKind } from './acp/index.ts'
import { commandKind } from './command/index.ts'
import type { AgentKind } from './kind.ts'
import { loopKind } from './loop/index.ts'
import { mcpKind } from './mcp/index.ts'
import { moduleKind } from './module/index.ts'
import { openaiKind } from './openai/index.ts'
import { openClawKind } from './openclaw/index.ts'

export const agentKinds: readonly AgentKind[] = [
  moduleKind,
  openaiKind,
  loopKind,
  commandKind,
  acpKind,
  mcpKind,
  a2aKind,
  openClawKind,
  demoKind,
]
