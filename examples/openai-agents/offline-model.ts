/** A model without a network, so that the example needs no key: it calls the tool once, then tells the result. */
import type { Model } from '@openai/agents-core'
import { ScriptedModel, assistantMessage, functionCall, modelResponder } from '@openai/agents-core/testing'

/** The scripted model of the SDK takes one step per call. */
const maxCalls = 1_000

export function offlineModel(): Model {
  const step = modelResponder(({ request: { input } }) => {
    const last = typeof input === 'string' ? undefined : input.at(-1)
    if (last?.type !== 'function_call_result')
      return [functionCall('pay', { invoice: 'INV-7', amount: 42 }, { callId: `call-${crypto.randomUUID()}` })]
    const { output } = last
    const text = typeof output === 'object' && 'text' in output ? output.text : JSON.stringify(output)
    return [assistantMessage(`Done: ${text}`)]
  })
  return new ScriptedModel(Array.from({ length: maxCalls }, () => step))
}
