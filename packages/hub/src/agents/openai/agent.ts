/**
 * A model as an agent: it gets a message with its history, and its text is forwarded as it arrives. The endpoint keeps no
 * state, so an interrupted turn runs again and starts its answer anew.
 */
import { A2AError, data, fail, type Agent, type Report, type Turn } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { ChatAnswer, ChatMessage, ChatModel, ModelCall } from '../chat-model.ts'
import { earlierMessages, userMessage, type HistoryBounds } from './chat-history.ts'
import { finalReport, failureReport, usageMetadata } from './final-report.ts'
import type { OpenaiEntry } from './entry.ts'
import { type StructuredOutput, structuredOutputFor } from './structured-output.ts'

export interface ChatAgentOptions extends HistoryBounds {
  readonly system?: string | undefined
  readonly structured: OpenaiEntry['structured']
  /** The model that the caller requests by name; undefined for the default. Throws if the caller may not use it. */
  chosenModel(turn: Turn): string | undefined
}

export function chatAgent(model: ChatModel, options: ChatAgentOptions): Agent {
  return { resume: 'rerun', run }

  async function* run(turn: Turn): AsyncGenerator<Report> {
    const chosen = options.chosenModel(turn)
    const structure = structuredOutputFor(turn, options.structured)
    // Read before any output: a part that the model cannot take is an error of the call.
    const asked = userMessage(await model.read(turn.message.parts, turn.signal))
    const system = [options.system, structure?.instruction].filter((text) => text !== undefined).join('\n\n')
    const messages: readonly ChatMessage[] = [
      ...(system !== '' ? [{ role: 'system', content: system } as const] : []),
      ...(await earlierMessages(turn, model, options)),
      asked,
    ]
    const { signal, deadlineAt, log } = turn
    const request = {
      messages,
      signal,
      deadlineAt,
      log,
      trace: turn,
      ...omitUndefined({ model: chosen }),
    }
    try {
      yield* structure === undefined ? streamAnswer(request) : structuredAnswer(request, structure, turn)
    } catch (reason) {
      yield failureReport(reason, turn)
    }
  }

  async function* streamAnswer(request: Parameters<ChatModel['ask']>[0]): AsyncGenerator<Report> {
    let answer: ChatAnswer | undefined
    for await (const event of model.ask(request)) {
      if ('text' in event) yield event.text
      else answer = event.answer
    }
    if (answer === undefined) throw new A2AError('INTERNAL', 'a model call ended without an answer')
    yield finalReport(answer, answer.text !== '', usageMetadata([answer.call]))
  }

  /** An invalid answer is returned to the model once, with the errors. */
  async function* structuredAnswer(
    request: Parameters<ChatModel['ask']>[0],
    structure: StructuredOutput,
    turn: Turn,
  ): AsyncGenerator<Report> {
    const { responseFormat } = structure
    const asking = { ...request, ...omitUndefined({ responseFormat }) }
    const calls: ModelCall[] = []
    let messages = request.messages
    let wrong = ''
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await completeAnswer(model, { ...asking, messages })
      calls.push(answer.call)
      const isWhole = answer.finish === 'stop' && answer.refusal === undefined && answer.text !== ''
      if (!isWhole) {
        yield finalReport(answer, false, usageMetadata(calls))
        return
      }
      const read = structure.read(answer.text)
      if ('value' in read) {
        yield wantsText(turn) ? JSON.stringify(read.value) : data(read.value, { mediaType: 'application/json' })
        yield finalReport(answer, true, usageMetadata(calls))
        return
      }
      ;({ wrong } = read)
      messages = [
        ...request.messages,
        { role: 'assistant', content: answer.text },
        {
          role: 'user',
          content: `The answer does not match the requested schema. ${wrong}\nAnswer again, with JSON only.`,
        },
      ]
    }
    turn.log.error('the model does not follow the requested schema', { taskId: turn.task.id, wrong })
    yield { ...fail('The model did not follow the requested schema'), metadata: usageMetadata(calls) }
  }
}

export async function completeAnswer(model: ChatModel, request: Parameters<ChatModel['ask']>[0]): Promise<ChatAnswer> {
  for await (const event of model.ask(request)) if ('answer' in event) return event.answer
  throw new A2AError('INTERNAL', 'a model call ended without an answer')
}

/** Clients that do not accept data get text. */
function wantsText({ acceptedOutputModes }: Turn): boolean {
  return (
    acceptedOutputModes.length > 0 &&
    !acceptedOutputModes.some((mode) => /json|\*\/\*|^\*$|application\/\*/i.test(mode))
  )
}
