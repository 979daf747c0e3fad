/**
 * What an MCP server asks the person at the other end, as a question of an agent, and the answer as the server wants it:
 * fields of a form, which may come as data, as JSON, line by line, or, if there is only one, in plain words.
 */
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import type { AgentMessage, Json, Message, Struct } from '@parley/a2a'
import { z } from 'zod'

type Ask = (question: AgentMessage) => Promise<Message>
type Fields = Readonly<Record<string, Struct>>

/** How often somebody is asked whose answers do not fit. */
const maxAttempts = 3
const noes = /^\s*(no|decline|refuse|reject)[.!]?\s*$/i
const ways = /^\s*(cancel|stop|abort|never mind)[.!]?\s*$/i

export async function answerQuestion(question: ElicitRequestParams, ask: Ask): Promise<ElicitResult> {
  if ('url' in question) return answerVisit(question, ask)
  let wrong = ''
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const message = await ask(formQuestion(question, wrong))
    const refusal = refusalIn(message)
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
export function formQuestion(question: Exclude<ElicitRequestParams, { url: string }>, wrong = ''): AgentMessage {
  const { message, requestedSchema } = question
  const lines = Object.entries(fieldsOf(question)).map(([name, field]) => {
    const about = [field['title'], field['description']].filter((text) => typeof text === 'string').join(': ')
    const choices = choicesOf(field)
    return `- ${name}${isRequired(question, name) ? '' : ' (optional)'}${about === '' ? '' : `: ${about}`}${choices.length > 0 ? ` [${choices.join(' | ')}]` : ''}`
  })
  const text = [message, ...(wrong === '' ? [] : [wrong]), ...lines].join('\n')
  return { parts: [{ text }, { data: { requestedSchema: requestedSchema as unknown as Json } }] }
}

export function readForm(
  question: Exclude<ElicitRequestParams, { url: string }>,
  message: Message,
): { readonly content: NonNullable<ElicitResult['content']> } | { readonly wrong: string } {
  const fields = fieldsOf(question)
  const data = message.parts.map((part) => ('data' in part ? part.data : undefined)).find(isStruct)
  const given = data ?? fieldsIn(textOf(message), fields)
  const { error } = z.fromJSONSchema(question.requestedSchema as unknown as Struct).safeParse(given)
  if (error !== undefined) return { wrong: `That does not fit. ${z.prettifyError(error)}` }
  return { content: given as NonNullable<ElicitResult['content']> }
}

function refusalIn(message: Message): 'decline' | 'cancel' | undefined {
  if (message.metadata?.['reason'] === 'INPUT_TIMEOUT') return 'cancel'
  const text = textOf(message)
  if (ways.test(text)) return 'cancel'
  return noes.test(text) ? 'decline' : undefined
}

function fieldsIn(text: string, fields: Fields): Struct {
  const whole = jsonIn(text)
  if (whole !== undefined) return whole
  const names = Object.keys(fields)
  const [only, ...others] = names
  const lines = text.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^\s*-?\s*([\w.-]+)\s*[:=]\s*(.*)$/.exec(line) ?? []
    return names.includes(name) ? [[name, valueOf(value.trim(), fields[name] ?? {})] as const] : []
  })
  if (lines.length > 0) return Object.fromEntries(lines)
  return only !== undefined && others.length === 0 ? { [only]: valueOf(text.trim(), fields[only] ?? {}) } : {}
}

function valueOf(text: string, { type }: Struct): Json {
  if (type === 'number' || type === 'integer') return text === '' || Number.isNaN(Number(text)) ? text : Number(text)
  if (type === 'boolean') return /^(yes|true|y|1)$/i.test(text) ? true : /^(no|false|n|0)$/i.test(text) ? false : text
  if (type === 'array') return text.split(',').map((item) => item.trim())
  return text
}

function jsonIn(text: string): Struct | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isStruct(value) ? value : undefined
  } catch {
    return undefined
  }
}

function fieldsOf({ requestedSchema }: Exclude<ElicitRequestParams, { url: string }>): Fields {
  return requestedSchema.properties as unknown as Fields
}

function isRequired({ requestedSchema }: Exclude<ElicitRequestParams, { url: string }>, name: string): boolean {
  return requestedSchema.required?.includes(name) ?? false
}

function choicesOf(field: Struct): readonly string[] {
  const listed = field['enum'] ?? (isStruct(field['items']) ? field['items']['enum'] : undefined)
  if (Array.isArray(listed)) return listed.map(String)
  const titled = field['oneOf'] ?? (isStruct(field['items']) ? field['items']['anyOf'] : undefined)
  if (!Array.isArray(titled)) return []
  return (titled as readonly Json[]).flatMap((one) =>
    isStruct(one) && typeof one['const'] === 'string' ? [one['const']] : [],
  )
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
