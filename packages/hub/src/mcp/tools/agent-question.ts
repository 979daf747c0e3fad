/**
 * Converts a question of an agent during a task to a form that an MCP client shows to the user, and the user's answer to
 * the message that goes back. A secret is never requested this way: forms pass through the client, and often its model.
 */
import { inputRequired, isSpecType, type ClientCapabilities, type InputRequest } from '@modelcontextprotocol/server'
import type { Part, Struct, Task } from '@parley/a2a'
import { asksForSecret, isStruct, omitUndefined } from '@parley/a2a/internal'
import { textOfParts } from '../../agents/part-reader.ts'

export interface AgentQuestion {
  readonly text: string
  readonly isSecret: boolean
  /** The form fields that the agent requests. */
  readonly form?: Struct
  /** A page that the user must visit. */
  readonly url?: string
}

const emptyQuestion = 'The agent asks for more.'
const maxQuestionLength = 10_000

export function readAgentQuestion({ status }: Task): AgentQuestion {
  const { message } = status
  const parts = message?.parts ?? []
  const form = parts.map(formIn).find((one) => one !== undefined)
  const url = parts.flatMap((part) => ('url' in part && isPage(part.url) ? [part.url] : []))[0]
  return {
    text: textOfParts(parts).slice(0, maxQuestionLength) || emptyQuestion,
    isSecret: asksForSecret(message),
    ...omitUndefined({ form, url }),
  }
}

/** The elicitation request for the client; undefined if the client does not support it. */
export function elicitationOf(
  task: Task,
  who: string,
  capabilities: ClientCapabilities | undefined,
): InputRequest | undefined {
  const { text, isSecret, form, url } = readAgentQuestion(task)
  const { elicitation } = capabilities ?? {}
  if (elicitation === undefined || isSecret) return undefined
  const message = `${who} asks: ${text}`
  if (url !== undefined && elicitation.url !== undefined) return inputRequired.elicitUrl({ message, url })
  // A request for credentials without a page cannot be answered in a form.
  if (task.status.state === 'TASK_STATE_AUTH_REQUIRED') return undefined
  // In earlier revisions, a client without declared modes supports forms.
  if (elicitation.form === undefined && elicitation.url !== undefined) return undefined
  return inputRequired.elicit({ message, requestedSchema: schemaOf(message, form) })
}

type RequestedSchema = Extract<Parameters<typeof inputRequired.elicit>[0]['requestedSchema'], { type: 'object' }>

const answerSchema: RequestedSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
}

/** A form of the agent is shown unchanged if clients support it. */
function schemaOf(message: string, form: Struct | undefined): RequestedSchema {
  if (form === undefined) return answerSchema
  const requestedSchema = form as unknown as RequestedSchema
  return isSpecType.ElicitRequestFormParams({ mode: 'form', message, requestedSchema }) ? requestedSchema : answerSchema
}

/** The user's input as parts of a message: as data for an agent that sent a form, and as text for all. */
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

/** Only https, because others on the network could change the page. */
function isPage(url: string): boolean {
  return /^https:\/\//i.test(url) && URL.canParse(url)
}
