/**
 * What an MCP server asks the person at the other end, as a question of an agent, and the answer as the server wants it:
 * fields of a form, which may come as data, as JSON, line by line, or, if there is only one, in plain words.
 */
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import type { AgentMessage, Json, Message, Struct } from '@parley/a2a'
import { fieldLines } from './field-lines.ts'
import { violationsIn, worded } from './violations.ts'
import { fieldsOf, inputIn, isStruct } from './words.ts'
import type { Fields } from './words.ts'

type Ask = (question: AgentMessage) => Promise<Message>
type FormQuestion = Exclude<ElicitRequestParams, { url: string }>
type Refusal = 'decline' | 'cancel'

/** How often somebody is asked whose answers do not fit. */
const maxAttempts = 3
const noes = /^\s*(no|decline|refuse|reject)[.!]?\s*$/i
const ways = /^\s*(cancel|stop|abort|never mind)[.!]?\s*$/i

export async function answerQuestion(question: ElicitRequestParams, ask: Ask): Promise<ElicitResult> {
  if ('url' in question) return answerVisit(question, ask)
  let wrong = ''
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const message = await ask(formQuestion(question, wrong))
    const refusal = refusalTo(fieldsOf(question.requestedSchema as unknown as Struct), message)
    if (refusal !== undefined) return { action: refusal }
    const read = readForm(question, message)
    if ('content' in read) return { action: 'accept', content: read.content }
    ;({ wrong } = read)
  }
  return { action: 'cancel' }
}

/** An address to be opened by a person: what comes of it the server hears by itself. */
async function answerVisit(question: Extract<ElicitRequestParams, { url: string }>, ask: Ask): Promise<ElicitResult> {
  const text = `${question.message}\n${question.url}\nAnswer yes when it is done, or no.`
  const message = await ask({ parts: [{ text }, { url: question.url }] })
  return { action: refusalIn(message) ?? 'accept' }
}

/** The form is a data part, for clients that show forms; people read the text. */
export function formQuestion({ message, requestedSchema }: FormQuestion, wrong = ''): AgentMessage {
  const schema = requestedSchema as unknown as Struct
  const text = [message, ...(wrong === '' ? [] : [wrong]), ...fieldLines(schema)].join('\n')
  return { parts: [{ text }, { data: { requestedSchema: schema as Json } }] }
}

export function readForm(
  { requestedSchema }: FormQuestion,
  message: Message,
): { readonly content: NonNullable<ElicitResult['content']> } | { readonly wrong: string } {
  const schema = requestedSchema as unknown as Struct
  const fields = fieldsOf(schema)
  const data = dataIn(message)
  const given =
    data === undefined ? inputIn(textOf(message), schema, Object.keys(fields)) : (contentIn(data, fields) ?? data)
  const violations = violationsIn(given ?? {}, schema)
  if (violations.length > 0) return { wrong: `That does not fit: ${worded(violations)}` }
  return { content: (given ?? {}) as NonNullable<ElicitResult['content']> }
}

/** As the server gets it, for programs that know what that looks like: `{ action: 'accept', content: {…} }`. */
function contentIn({ action, content = {} }: Struct, fields: Fields): Struct | undefined {
  return action === 'accept' && !Object.hasOwn(fields, 'action') && isStruct(content) ? content : undefined
}

/** Whether somebody does not want to answer a form with these fields. */
export function refusalTo(fields: Fields, message: Message): Refusal | undefined {
  const data = dataIn(message)
  if (data !== undefined) {
    const { action } = data
    return !Object.hasOwn(fields, 'action') && (action === 'decline' || action === 'cancel') ? action : undefined
  }
  const [only, ...others] = Object.values(fields)
  // To a question for a yes or a no, a no is an answer.
  if (only?.['type'] === 'boolean' && others.length === 0 && noes.test(textOf(message))) return undefined
  return refusalIn(message)
}

function refusalIn(message: Message): Refusal | undefined {
  if (message.metadata?.['reason'] === 'INPUT_TIMEOUT') return 'cancel'
  const text = textOf(message)
  if (ways.test(text)) return 'cancel'
  return noes.test(text) ? 'decline' : undefined
}

function dataIn({ parts }: Message): Struct | undefined {
  return parts.map((part) => ('data' in part ? part.data : undefined)).find(isStruct)
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}
