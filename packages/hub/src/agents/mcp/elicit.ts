/**
 * Converts a question of an MCP server to a question to the caller, and the reply to the answer that the server expects:
 * fields of a form, which may arrive as data, as JSON, line by line, or, if there is only one, as plain text.
 */
import type { AgentMessage, Json, Message, Struct } from '@parley/a2a'
import { isStruct, fieldLines, schemaFields, parseInput, type SchemaFields } from '@parley/a2a/internal'
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import { schemaViolations, describeViolations } from './parse-input.ts'
import { textOfParts } from '../part-reader.ts'

type AskCaller = (question: AgentMessage) => Promise<Message>
type FormQuestion = Exclude<ElicitRequestParams, { url: string }>
type ElicitRefusal = 'decline' | 'cancel'

/** Maximum number of attempts if the replies are invalid. */
const maxAttempts = 3
const declinePattern = /^\s*(no|decline|refuse|reject)[.!]?\s*$/i
const cancelPattern = /^\s*(cancel|stop|abort|never mind)[.!]?\s*$/i

export async function answerElicitation(question: ElicitRequestParams, ask: AskCaller): Promise<ElicitResult> {
  if ('url' in question) return answerUrlElicitation(question, ask)
  let wrong = ''
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const message = await ask(formQuestion(question, wrong))
    const refusal = formRefusal(schemaFields(question.requestedSchema as unknown as Struct), message)
    if (refusal !== undefined) return { action: refusal }
    const read = readForm(question, message)
    if ('content' in read) return { action: 'accept', content: read.content }
    ;({ wrong } = read)
  }
  return { action: 'cancel' }
}

/** The user opens a URL; the server learns of the result by itself. */
async function answerUrlElicitation(
  question: Extract<ElicitRequestParams, { url: string }>,
  ask: AskCaller,
): Promise<ElicitResult> {
  const text = `${question.message}\n${question.url}\nAnswer yes when it is done, or no.`
  const message = await ask({ parts: [{ text }, { url: question.url }] })
  return { action: messageRefusal(message) ?? 'accept' }
}

/** The form is a data part, for clients that show forms; the text is for people. */
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
  const fields = schemaFields(schema)
  const data = dataIn(message)
  const given =
    data === undefined
      ? parseInput(textOfParts(message.parts), schema, Object.keys(fields))
      : (contentIn(data, fields) ?? data)
  const violations = schemaViolations(given ?? {}, schema)
  if (violations.length > 0) return { wrong: `That is invalid: ${describeViolations(violations)}` }
  return { content: (given ?? {}) as NonNullable<ElicitResult['content']> }
}

/** The answer in the form of MCP, for programs that know it: `{ action: 'accept', content: {…} }`. */
function contentIn({ action, content = {} }: Struct, fields: SchemaFields): Struct | undefined {
  return action === 'accept' && !Object.hasOwn(fields, 'action') && isStruct(content) ? content : undefined
}

/** Whether the user declines to answer a form with these fields. */
export function formRefusal(fields: SchemaFields, message: Message): ElicitRefusal | undefined {
  const data = dataIn(message)
  if (data !== undefined) {
    const { action } = data
    return !Object.hasOwn(fields, 'action') && (action === 'decline' || action === 'cancel') ? action : undefined
  }
  const [only, ...others] = Object.values(fields)
  // For a yes-or-no question, no is an answer.
  if (only?.['type'] === 'boolean' && others.length === 0 && declinePattern.test(textOfParts(message.parts)))
    return undefined
  return messageRefusal(message)
}

function messageRefusal(message: Message): ElicitRefusal | undefined {
  if (message.metadata?.['reason'] === 'INPUT_TIMEOUT') return 'cancel'
  const text = textOfParts(message.parts)
  if (cancelPattern.test(text)) return 'cancel'
  return declinePattern.test(text) ? 'decline' : undefined
}

function dataIn({ parts }: Message): Struct | undefined {
  return parts.map((part) => ('data' in part ? part.data : undefined)).find(isStruct)
}
