/**
 * A model as an agent: it gets a message with its history, and its text is forwarded as it arrives. The endpoint keeps no
 * state, so an interrupted turn runs again and starts its answer anew.
 */
import { A2AError, data, fail, omitUndefined, isStruct } from '@parley/a2a'
import type { Agent, Report, Turn, Json, Struct } from '@parley/a2a'
import type { ChatAnswer, ChatMessage, ChatModel, ModelCall } from '../chat-model.ts'
import { earlierMessages, userMessage, type HistoryBounds } from './chat-history.ts'
import { finalReport, failureReport, usageMetadata } from './final-report.ts'
import type { OpenaiEntry } from './entry.ts'
import { z } from 'zod'
import { parseBoundedJson } from '../../json/bounded-json.ts'

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

/**
 * Answers that must match a schema. A caller sets `metadata.schema` of a part, of the message or of the request, as in
 * older drafts of the protocol; the answer is then a data part. JSON without a schema is requested by `metadata.mimeType`,
 * or by accepting no other type.
 */
interface StructuredOutput {
  readonly responseFormat?: Struct
  /** An additional instruction for the model. */
  readonly instruction?: string
  /** The value, or the validation errors as text for the model. */
  read(text: string): { readonly value: Json } | { readonly wrong: string }
}

export function structuredOutputFor(turn: Turn, mode: OpenaiEntry['structured']): StructuredOutput | undefined {
  const hints = [...turn.message.parts.map(({ metadata }) => metadata), turn.message.metadata, turn.metadata]
  const schema = hints.map((hint) => hint?.['schema']).find(isStruct)
  if (schema !== undefined) return withSchema(schema, mode)
  const isNamed = hints.some((hint) => isJsonType(hint?.['mimeType']) || isJsonType(hint?.['mediaType']))
  const accepted = turn.acceptedOutputModes
  return isNamed || (accepted.length > 0 && accepted.every(isJsonType)) ? withoutSchema(mode) : undefined
}

function withSchema(schema: Struct, mode: OpenaiEntry['structured']): StructuredOutput {
  // Endpoints require an object at the top level.
  const isWrapped = mode === 'json_schema' && schema['type'] !== 'object'
  const check = checkOf(schema)
  const read: StructuredOutput['read'] = (text) => {
    const parsed = parse(text)
    if ('wrong' in parsed) return parsed
    const value = isWrapped && isStruct(parsed.value) && 'value' in parsed.value ? parsed.value['value'] : parsed.value
    const wrong = check(value)
    return wrong === undefined ? { value } : { wrong }
  }
  if (mode === 'json_schema') {
    const sent = isWrapped ? wrapInObject(schema) : schema
    const json_schema = { name: nameOf(schema), schema: sent, ...(isStrict(sent) ? { strict: true } : {}) }
    return { responseFormat: { type: 'json_schema', json_schema }, read }
  }
  const instruction = `Answer with JSON only, without other text. It must match this JSON Schema:\n${JSON.stringify(schema)}`
  return { ...(mode === 'json_object' ? jsonObject : {}), instruction, read }
}

function withoutSchema(mode: OpenaiEntry['structured']): StructuredOutput {
  return {
    ...(mode === 'prompt' ? {} : jsonObject),
    instruction: 'Answer with JSON only, without other text.',
    read: parse,
  }
}

const jsonObject = { responseFormat: { type: 'json_object' } }

/** Models often put a code fence around it. */
function parse(text: string): { readonly value: Json } | { readonly wrong: string } {
  const [, fenced] = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text) ?? []
  try {
    return { value: parseBoundedJson(fenced ?? text) as Json }
  } catch (reason) {
    return { wrong: `It is not JSON: ${String(reason)}` }
  }
}

/** If our validator cannot read the schema, the answer is not validated. */
function checkOf(schema: Struct): (value: Json) => string | undefined {
  try {
    const checker = z.fromJSONSchema(schema)
    return (value) => {
      const { error } = checker.safeParse(value)
      return error === undefined ? undefined : z.prettifyError(error)
    }
  } catch {
    return () => undefined
  }
}

/** References are relative to the top level, so their targets move there too. */
function wrapInObject(schema: Struct): Struct {
  const { $defs, definitions, $schema: _, ...rest } = schema
  return {
    type: 'object',
    properties: { value: rest },
    required: ['value'],
    additionalProperties: false,
    ...($defs !== undefined ? { $defs } : {}),
    ...omitUndefined({ definitions }),
  }
}

/**
 * Strict endpoints require every object to be closed and every property to be required; other schemas are sent without
 * `strict`.
 */
function isStrict(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isStruct(schema)) return true
  const { properties, required } = schema
  if (schema['type'] === 'object' || properties !== undefined) {
    const names = isStruct(properties) ? Object.keys(properties) : []
    const isClosed = schema['additionalProperties'] === false
    if (!isClosed || !names.every((name) => Array.isArray(required) && required.includes(name))) return false
  }
  return Object.values(schema).every(isStrict)
}

function nameOf({ title }: Struct): string {
  const name = typeof title === 'string' ? title.replaceAll(/[^\w-]+/g, '_').slice(0, 64) : ''
  return name === '' ? 'answer' : name
}

function isJsonType(value: Json | undefined): boolean {
  return typeof value === 'string' && /^application\/(.+\+)?json\b/i.test(value)
}
