/** Which models callers may choose, and how the card shows them: as skills, without ever asking a model anything. */
import { A2AError } from '@parley/a2a'
import type { AgentSkill, Turn } from '@parley/a2a'
import { fitsPattern } from '../name-pattern.ts'
import type { Endpoint } from './endpoint.ts'
import type { OpenaiEntry } from './entry.ts'

type Choice = Pick<OpenaiEntry, 'model' | 'models'>

/** By `metadata.model` of the message or the request, or by the skill that is meant. */
export function chosenModel(turn: Turn, choice: Choice): string | undefined {
  const places = [turn.message.metadata, turn.metadata]
  const model = places.map((metadata) => metadata?.['model']).find((given) => typeof given === 'string')
  if (model !== undefined) return permitted(model, choice, 'model')
  // The operator may have listed skills of another sort: those choose nothing.
  const skill = places.map((metadata) => metadata?.['skillId']).find((given) => typeof given === 'string')
  return skill !== undefined && skill !== choice.model && isPermitted(skill, choice) ? skill : undefined
}

function permitted(model: string, choice: Choice, field: string): string | undefined {
  if (model === choice.model) return undefined
  if (isPermitted(model, choice)) return model
  const description = 'names no model that may be chosen here'
  throw new A2AError('INVALID_PARAMS', `metadata.${field} ${description}`, {
    violations: [{ field: `metadata.${field}`, description }],
  })
}

export function isPermitted(model: string, choice: Choice): boolean {
  return model === choice.model || choice.models.some((pattern) => fitsPattern(pattern, model))
}

/** What the endpoint lists and callers may choose. The usual model comes first, listed or not. */
export async function skillsOfModels(endpoint: Endpoint, choice: Choice, signal: AbortSignal): Promise<AgentSkill[]> {
  const listed = namesIn(await endpoint.get('/models', signal)).filter((name) => isPermitted(name, choice))
  return [...new Set([choice.model, ...listed])].map((model) => skillOf(model))
}

export function skillOf(model: string): AgentSkill {
  const name = model.split('/').at(-1) ?? model
  return {
    id: model,
    name,
    description: `Answers with the model ${model}`,
    tags: ['chat', 'model'],
  }
}

function namesIn(list: unknown): readonly string[] {
  const given: unknown = Array.isArray(list) ? list : (list as { data?: unknown } | null)?.data
  if (!Array.isArray(given)) return []
  return (given as unknown[])
    .map((item) => (item as { id?: unknown } | null)?.id)
    .filter((id): id is string => typeof id === 'string' && id !== '')
}
