/** The kind `openai`: a model behind any endpoint that speaks the chat completions API. */
import { A2AError } from '@parley/a2a'
import type { AgentKind, CardPart, KindParts, OpenAgent } from '../kind.ts'
import { chatAgent } from './agent.ts'
import { createEndpoint } from './endpoint.ts'
import { openaiEntry } from './entry.ts'
import type { OpenaiEntry } from './entry.ts'
import { openaiModel } from './model.ts'
import { chosenModel, skillOf, skillsOfModels } from './models.ts'

export const openaiKind: AgentKind<OpenaiEntry> = { kind: 'openai', schema: openaiEntry, openAfterMs: 0, open }

function open(entry: OpenaiEntry, parts: KindParts): OpenAgent {
  const endpoint = createEndpoint(entry, parts.fetch, parts.jsonNodes)
  const model = openaiModel(entry, endpoint, parts)
  const system = [parts.persona, entry.system].filter((text) => text !== undefined)
  const agent = chatAgent(model, {
    ...entry,
    system: system.length > 0 ? system.join('\n\n') : undefined,
    chosen: (turn) => chosenModel(turn, entry),
  })
  const card: CardPart = {
    description: `Talks with the model ${entry.model}`,
    skills: [skillOf(entry.model)],
    inputModes: model.inputModes,
    outputModes: ['text/plain', 'application/json'],
    streaming: true,
  }
  return {
    agent,
    card,
    model,
    async look(signal) {
      return { ...card, skills: await skillsOfModels(endpoint, entry, signal) }
    },
    async health(signal) {
      try {
        await endpoint.get('/models', signal)
      } catch (reason) {
        // An endpoint without a list of models is there all the same.
        const status = reason instanceof A2AError ? reason.details.status : undefined
        if (!/^(404|405|501)$/.test(status ?? '')) throw reason
      }
    },
  }
}
