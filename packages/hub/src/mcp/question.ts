/**
 * What an agent asks in the middle of a task, as a form that an MCP client puts before a person, and what the person says as
 * the message that goes back. A secret is never asked for in this way: forms go through the client, and often its model.
 */
import { inputRequired, isSpecType } from '@modelcontextprotocol/server'
import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server'
import { clientToolsExtension, credentialsExtension } from '@parley/a2a'
import type { Message, Part, Struct, Task } from '@parley/a2a'
import { isStruct } from '../agents/mcp/words.ts'
import { textOf } from './desk.ts'

export interface Question {
  readonly text: string
  readonly isSecret: boolean
  /** Fields that the agent wants filled in. */
  readonly form?: Struct
  /** A page that the person is to visit. */
  readonly url?: string
}

const emptyQuestion = 'The agent asks for more.'
const longest = 10_000

export function questionIn({ status }: Task): Question {
  const { message } = status
  const parts = message?.parts ?? []
  const form = parts.map(formIn).find((one) => one !== undefined)
  const url = parts.flatMap((part) => ('url' in part && isPage(part.url) ? [part.url] : []))[0]
  return {
    text: textOf(parts).slice(0, longest) || emptyQuestion,
    isSecret: message !== undefined && asksForSecret(message),
    ...(form !== undefined ? { form } : {}),
    ...(url !== undefined ? { url } : {}),
  }
}

/** The request for whoever sits at the client; nothing if it cannot be asked there. */
export function elicitationOf(
  task: Task,
  who: string,
  capabilities: ClientCapabilities | undefined,
): InputRequest | undefined {
  const { text, isSecret, form, url } = questionIn(task)
  const { elicitation } = capabilities ?? {}
  if (elicitation === undefined || isSecret) return undefined
  const message = `${who} asks: ${text}`
  if (url !== undefined && elicitation.url !== undefined) return inputRequired.elicitUrl({ message, url })
  // What wants credentials and names no page cannot be answered in a form.
  if (task.status.state === 'TASK_STATE_AUTH_REQUIRED') return undefined
  // Before there were pages, a client that said nothing more meant forms.
  if (elicitation.form === undefined && elicitation.url !== undefined) return undefined
  return inputRequired.elicit({ message, requestedSchema: schemaOf(message, form) })
}

type RequestedSchema = Extract<Parameters<typeof inputRequired.elicit>[0]['requestedSchema'], { type: 'object' }>

const plain: RequestedSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
}

/** A form of the agent's own is shown as it is, if it is one that clients can show. */
function schemaOf(message: string, form: Struct | undefined): RequestedSchema {
  if (form === undefined) return plain
  const requestedSchema = form as unknown as RequestedSchema
  return isSpecType.ElicitRequestFormParams({ mode: 'form', message, requestedSchema }) ? requestedSchema : plain
}

/** What the person filled in, as parts of a message: as data for those who asked by a form, and in words for all. */
export function answerParts(content: Struct): readonly Part[] {
  const entries = Object.entries(content)
  const [[name, only] = ['', ''], ...others] = entries
  if (others.length === 0 && name === 'answer' && typeof only === 'string') return [{ text: only }]
  const words = entries.map(
    ([field, value]) => `${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [{ text: words.join('\n') }, { data: content, mediaType: 'application/json' }]
}

function formIn(part: Part): Struct | undefined {
  const data = 'data' in part ? part.data : undefined
  const schema = isStruct(data) ? data['requestedSchema'] : undefined
  return isStruct(schema) ? schema : undefined
}

/** Nobody is sent to a page that anybody on the way could change. */
function isPage(url: string): boolean {
  return /^https:\/\//i.test(url) && URL.canParse(url)
}

function asksForSecret({ metadata, parts }: Message): boolean {
  const request = aboutIn(metadata, clientToolsExtension)['inputRequest']
  if (isStruct(request) && request['sensitive'] === true) return true
  return parts.some((part) => aboutIn(part.metadata, credentialsExtension)['type'] === 'auth-request' && isInBand(part))
}

function isInBand(part: Part): boolean {
  return 'data' in part && isStruct(part.data) && part.data['inBand'] === true
}

function aboutIn(metadata: Struct | undefined, uri: string): Struct {
  const about = metadata?.[uri]
  return isStruct(about) ? about : {}
}
