/**
 * A model as an agent: a message and what was said before goes in, what it says comes out as it comes. Nothing is kept at
 * the endpoint, so a turn that was interrupted is run again and begins its answer anew.
 */
import { A2AError, data, fail } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import type { ChatAnswer, ChatMessage, ChatModel, ModelCall } from '../chat-model.ts'
import { earlierMessages, userMessage } from './conversation.ts'
import type { HistoryBounds } from './conversation.ts'
import { endingOf, failedEnding } from './ending.ts'
import type { OpenaiEntry } from './entry.ts'
import { structureFor } from './structured.ts'
import type { Structure } from './structured.ts'
import { billOf } from './usage.ts'

export interface ChatAgentOptions extends HistoryBounds {
  readonly system?: string | undefined
  readonly structured: OpenaiEntry['structured']
  /** The model that the caller asks for by name; nothing for the usual one. Throws for one that it may not have. */
  chosen(turn: Turn): string | undefined
}

export function chatAgent(model: ChatModel, options: ChatAgentOptions): Agent {
  return { resume: 'rerun', run }

  async function* run(turn: Turn): AsyncGenerator<Report> {
    const chosen = options.chosen(turn)
    const structure = structureFor(turn, options.structured)
    // Before anything is said: a part that the model cannot take is the answer to the call.
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
      ...(chosen !== undefined ? { model: chosen } : {}),
    }
    try {
      yield* structure === undefined ? spoken(request) : fitting(request, structure, turn)
    } catch (reason) {
      yield failedEnding(reason, turn)
    }
  }

  async function* spoken(request: Parameters<ChatModel['ask']>[0]): AsyncGenerator<Report> {
    let answer: ChatAnswer | undefined
    for await (const event of model.ask(request)) {
      if ('text' in event) yield event.text
      else answer = event.answer
    }
    if (answer === undefined) throw new A2AError('INTERNAL', 'a model ended without an answer')
    yield endingOf(answer, answer.text !== '', billOf([answer.call]))
  }

  /** An answer that does not fit is given back once, with what is wrong. */
  async function* fitting(
    request: Parameters<ChatModel['ask']>[0],
    structure: Structure,
    turn: Turn,
  ): AsyncGenerator<Report> {
    const { responseFormat } = structure
    const asking = { ...request, ...(responseFormat !== undefined ? { responseFormat } : {}) }
    const calls: ModelCall[] = []
    let messages = request.messages
    let wrong = ''
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await wholeAnswer(model, { ...asking, messages })
      calls.push(answer.call)
      const isWhole = answer.finish === 'stop' && answer.refusal === undefined && answer.text !== ''
      if (!isWhole) {
        yield endingOf(answer, false, billOf(calls))
        return
      }
      const read = structure.read(answer.text)
      if ('value' in read) {
        yield wantsText(turn) ? JSON.stringify(read.value) : data(read.value, { mediaType: 'application/json' })
        yield endingOf(answer, true, billOf(calls))
        return
      }
      ;({ wrong } = read)
      messages = [
        ...request.messages,
        { role: 'assistant', content: answer.text },
        { role: 'user', content: `That does not fit what was asked for. ${wrong}\nAnswer once more, with JSON alone.` },
      ]
    }
    turn.log.error('the model does not keep to the form that was asked for', { taskId: turn.task.id, wrong })
    yield { ...fail('The model did not answer in the form that was asked for'), metadata: billOf(calls) }
  }
}

export async function wholeAnswer(model: ChatModel, request: Parameters<ChatModel['ask']>[0]): Promise<ChatAnswer> {
  for await (const event of model.ask(request)) if ('answer' in event) return event.answer
  throw new A2AError('INTERNAL', 'a model ended without an answer')
}

/** Clients that take no data take it as text. */
function wantsText({ acceptedOutputModes }: Turn): boolean {
  return (
    acceptedOutputModes.length > 0 &&
    !acceptedOutputModes.some((mode) => /json|\*\/\*|^\*$|application\/\*/i.test(mode))
  )
}
