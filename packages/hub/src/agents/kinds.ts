/** All kinds of agents that a configuration may name: one line each. */
import { demoKind } from '../demo/index.ts'
import type { AgentKind } from './kind.ts'
import { moduleKind } from './module/index.ts'

export const kinds: readonly AgentKind[] = [moduleKind, demoKind]
