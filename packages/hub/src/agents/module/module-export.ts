/** Finds the agent and its description among the exports of a module of the operator. */
import type { Agent } from '@parley/a2a'
import { omitUndefined, recognizeFramework, type FrameworkName } from '@parley/a2a/internal'
import { z } from 'zod'
import { cardFields } from '../../config/sections/card.ts'
import { skillSchema } from '../../config/sections/skill.ts'
import type { PartialCard } from '../kind.ts'

export interface ModuleExport {
  readonly agent: Agent | FrameworkExport
  readonly card: PartialCard
  /** Exports next to the agent that have no effect. */
  readonly ignored: readonly string[]
}

/** An agent of a framework, which needs an adapter. */
export interface FrameworkExport {
  readonly framework: FrameworkName
  readonly value: unknown
}

const exportedFields = cardFields.extend({
  skills: z.array(skillSchema).optional(),
  streaming: z.boolean().optional(),
})

export function readModuleExport(
  module: Readonly<Record<string, unknown>>,
  wanted: string | undefined,
  path: string,
): ModuleExport {
  const name = wanted ?? ('default' in module ? 'default' : 'agent')
  const value = module[name]
  if (value === undefined) {
    throw new Error(`${path} has no export ${wanted ?? 'default or agent'}: export a function of a turn`)
  }
  const agent = agentIn(value)
  if (agent !== undefined) return { agent, card: {}, ignored: [] }
  const inner = typeof value === 'object' && value !== null && 'agent' in value ? agentIn(value.agent) : undefined
  if (inner !== undefined) return { agent: inner, ...cardOf(value as object, path) }
  throw new Error(
    `the export ${name} of ${path} is not an agent: export a function, an object with resume and run, an agent of the AI SDK, LangGraph, Mastra or the OpenAI Agents SDK, or { agent, name, skills }`,
  )
}

function agentIn(value: unknown): Agent | FrameworkExport | undefined {
  if (isAgent(value)) return value
  const framework = recognizeFramework(value)
  return framework === undefined ? undefined : { framework, value }
}

function isAgent(value: unknown): value is Agent {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null || !('run' in value) || typeof value.run !== 'function') return false
  const resume = 'resume' in value ? value.resume : undefined
  if (resume === 'reattach') return 'reattach' in value && typeof value.reattach === 'function'
  return resume === 'fail' || resume === 'rerun'
}

function cardOf(settings: object, path: string): Omit<ModuleExport, 'agent'> {
  const read = exportedFields.safeParse(settings)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`${path}: the exported ${issue?.path.join('.')} is invalid: ${issue?.message}`)
  }
  const known = new Set(['agent', ...Object.keys(exportedFields.shape)])
  return { card: omitUndefined(read.data), ignored: Object.keys(settings).filter((key) => !known.has(key)) }
}
