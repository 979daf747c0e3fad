/** The kind `openai`: a model behind any endpoint that speaks the chat completions API. */
import { A2AError } from '@parley/a2a'
import type { AgentKind, PartialCard, AgentServices, OpenAgent } from '../kind.ts'
import { chatAgent } from './agent.ts'
import { createModelEndpoint } from './endpoint.ts'
import { openaiEntry, type OpenaiEntry } from './entry.ts'
import { openaiModel } from './model.ts'
import { chosenModel, modelSkill, modelSkills } from './models.ts'

export const openaiKind: AgentKind<OpenaiEntry> = { kind: 'openai', schema: openaiEntry, openAfterMs: 0, open }

function open(entry: OpenaiEntry, services: AgentServices): OpenAgent {
  const endpoint = createModelEndpoint(entry, services.fetch, services.jsonNodes)
  const model = openaiModel(entry, endpoint, services)
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
    async health(signal) {
      try {
        await endpoint.get('/models', signal)
      } catch (reason) {
        // An endpoint without a list of models is still available.
        const status = reason instanceof A2AError ? reason.details.status : undefined
        if (!/^(404|405|501)$/.test(status ?? '')) throw reason
      }
    },
  }
}
