/** Opens an agent of the kind `openai`. Loaded with the first of them. */
import { A2AError, type AgentSkill, type Turn } from '@parley/a2a'
import type { PartialCard, AgentServices, OpenAgent } from '../kind.ts'
import { chatAgent } from './agent.ts'
import { createModelEndpoint, type ModelEndpoint } from './endpoint.ts'
import { type OpenaiEntry } from './entry.ts'
import { openaiModel } from './model.ts'
import { modelNames, withModelCheck } from './model-check.ts'
import { matchesPattern } from '../name-pattern.ts'

export function openOpenaiAgent(entry: OpenaiEntry, services: AgentServices): OpenAgent {
  const endpoint = createModelEndpoint(entry, services.fetch, services.jsonNodes)
  const model = withModelCheck(openaiModel(entry, endpoint, services), entry.model, endpoint, services.monotonicNow)
  const system = [services.persona, entry.system].filter((text) => text !== undefined)
  const agent = chatAgent(model, {
    ...entry,
    system: system.length > 0 ? system.join('\n\n') : undefined,
    chosenModel: (turn) => chosenModel(turn, entry),
  })
  const card: PartialCard = {
    description: `Talks with the model ${entry.model}`,
    skills: [modelSkill(entry.model)],
    inputModes: model.inputModes,
    outputModes: ['text/plain', 'application/json'],
    streaming: true,
  }
  return {
    agent,
    card,
    model,
    async fetchCard(signal) {
      return { ...card, skills: await modelSkills(endpoint, entry, signal) }
    },
    health: model.health,
  }
}

type ModelChoice = Pick<OpenaiEntry, 'model' | 'models'>

/** From `metadata.model` of the message or the request, or from the skill. */
export function chosenModel(turn: Turn, choice: ModelChoice): string | undefined {
  const places = [turn.message.metadata, turn.metadata]
  const model = places.map((metadata) => metadata?.['model']).find((given) => typeof given === 'string')
  if (model !== undefined) return requirePermitted(model, choice, 'model')
  // The operator may have listed other skills, which select no model.
  const skill = places.map((metadata) => metadata?.['skillId']).find((given) => typeof given === 'string')
  return skill !== undefined && skill !== choice.model && isModelPermitted(skill, choice) ? skill : undefined
}

function requirePermitted(model: string, choice: ModelChoice, field: string): string | undefined {
  if (model === choice.model) return undefined
  if (isModelPermitted(model, choice)) return model
  const description = 'is not an available model'
  throw new A2AError('INVALID_PARAMS', `metadata.${field} ${description}`, {
    violations: [{ field: `metadata.${field}`, description }],
  })
}

export function isModelPermitted(model: string, choice: ModelChoice): boolean {
  return model === choice.model || choice.models.some((pattern) => matchesPattern(pattern, model))
}

/** The models of the endpoint that callers may choose. The default model is first, listed or not. */
async function modelSkills(endpoint: ModelEndpoint, choice: ModelChoice, signal: AbortSignal): Promise<AgentSkill[]> {
  const listed = (await modelNames(endpoint, signal)).filter((name) => isModelPermitted(name, choice))
  return [...new Set([choice.model, ...listed])].map((model) => modelSkill(model))
}

function modelSkill(model: string): AgentSkill {
  const name = model.split('/').at(-1) ?? model
  return {
    id: model,
    name,
    description: `Answers with the model ${model}`,
    tags: ['chat', 'model'],
  }
}
