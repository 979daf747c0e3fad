/**
 * What a run of a framework waits for, as a question to the caller, and the meaning of the answer. Both are JSON: a checkpoint holds
 * them while the task waits, so that any process can continue.
 */
import { approvalMessage, parseOption, type ApprovalQuestion } from '../agents/approvals.ts'
import type { AgentMessage } from '../agents/agent.ts'
import { clientToolsExtension } from '../model/extension.ts'
import { isStruct } from '../model/struct.ts'
import type { Json, Message, Struct } from '../model/task.ts'
import { countedJson } from './bounded-json.ts'
import { fieldLines, formProblems, ownField, parseInput, parseValue, requiredFields, schemaFields } from './forms.ts'

/** A tool call that needs an approval or that the client runs, or a question that needs a value. */
export type RunQuestion =
  | {
      readonly kind: 'approval'
      /** The framework's id of the request. */
      readonly id: string
      /** The id of the tool call, if it differs. */
      readonly toolCallId?: string
      readonly tool: string
      readonly arguments?: Json
      /** Why approval is needed, for people. */
      readonly reason?: string
    }
  | {
      /** A tool that the client runs. */
      readonly kind: 'client-tool'
      /** The id of the tool call. */
      readonly id: string
      readonly tool: string
      readonly arguments: Json
    }
  | {
      readonly kind: 'value'
      readonly id: string
      /** For people. */
      readonly text: string
      /** JSON Schema of the value. Default: any text. */
      readonly schema?: Struct
    }

/** The answer to a question. */
export type RunAnswer =
  | { readonly id: string; readonly approved: boolean; readonly reason?: string }
  | { readonly id: string; readonly value: Json }
  /** The result of a tool that the client ran. */
  | { readonly id: string; readonly result: Json; readonly isError: boolean }

/** A run that waits: what the framework needs to continue, the questions, and the answers so far. */
export interface PausedRun {
  readonly state: Json
  readonly questions: readonly RunQuestion[]
  readonly answers: readonly RunAnswer[]
}

/** Of arguments in the text of an approval. */
const maxTitleLength = 600
/** Of arguments in the data of an approval. */
const maxArgumentsLength = 100_000

/** The first question that has no answer yet. */
export function openQuestion({ questions, answers }: PausedRun): RunQuestion | undefined {
  return questions.find(({ id }) => !answers.some((answer) => answer.id === id))
}

/** The question as a message with a form. `problem`: why the last answer was not accepted. */
export function questionMessage(question: RunQuestion, problem?: string): AgentMessage {
  if (question.kind === 'approval') return approvalMessage(approvalOf(question), problem !== undefined)
  if (question.kind === 'client-tool') return toolUseMessage(question)
  const { text, schema } = question
  const lead = problem === undefined ? [] : [`That is invalid: ${problem}`]
  if (schema === undefined) return { parts: [{ text: [...lead, text].join('\n') }] }
  const form = formSchema(schema)
  const lines = [...lead, text, ...fieldLines(form)]
  return { parts: [{ text: lines.join('\n') }, { data: { requestedSchema: form } }] }
}

/** The meaning of the caller's message, or what is wrong with it. */
export function readAnswer(question: RunQuestion, message: Message): RunAnswer | { readonly problem: string } {
  const isTimeout = message.metadata?.['reason'] === 'INPUT_TIMEOUT'
  if (question.kind === 'value') return readValue(question, message)
  if (question.kind === 'client-tool') return readToolResult(question.id, message, isTimeout)
  if (isTimeout) return { id: question.id, approved: false, reason: 'There was no answer in time' }
  const option = parseOption(message, approvalOf(question))
  if (option === undefined) return { problem: 'not one of the options' }
  const reason = dataIn(message)?.['reason']
  return {
    id: question.id,
    approved: option === 'approve',
    ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
  }
}

function toolUseMessage({ id, tool, arguments: input }: RunQuestion & { kind: 'client-tool' }): AgentMessage {
  return {
    parts: [
      { text: `The client must run: ${tool}` },
      { data: { toolUseId: id, name: tool, input }, metadata: { [clientToolsExtension]: { type: 'tool-use' } } },
    ],
    extensions: [clientToolsExtension],
  }
}

/** Clients without the extension answer in text. */
function readToolResult(id: string, message: Message, isTimeout: boolean): RunAnswer {
  if (isTimeout) return { id, result: 'The client did not answer in time', isError: true }
  const data = message.parts.map((part) => ('data' in part ? part.data : undefined)).filter(isStruct)
  const given = data.find((one) => one['toolUseId'] === id)
  if (given === undefined) return { id, result: data[0] ?? textIn(message), isError: false }
  const { error, result = null } = given
  return error === undefined ? { id, result, isError: false } : { id, result: error, isError: true }
}

function approvalOf({ tool, arguments: given, reason }: RunQuestion & { kind: 'approval' }): ApprovalQuestion {
  const about = given === undefined ? '' : ` ${countedJson(given, maxTitleLength)}`
  return {
    ...(given !== undefined ? { arguments: boundedArguments(given) } : {}),
    title: `${tool}${about}${reason === undefined ? '' : `\n${reason}`}`,
    options: [
      { optionId: 'approve', name: 'Approve', kind: 'allow_once' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ],
  }
}

/** A longer value becomes its JSON text, cut, with the number of characters that are left out. */
function boundedArguments(given: Json): Json {
  const text = JSON.stringify(given)
  return text.length <= maxArgumentsLength ? given : countedJson(text, maxArgumentsLength)
}

/** Forms are objects: another schema becomes the field `answer` of one. */
function formSchema(schema: Struct): Struct {
  if (isForm(schema)) return schema
  return { type: 'object', properties: { answer: schema }, required: ['answer'] }
}

function isForm(schema: Struct): boolean {
  return isStruct(schema['properties'])
}

function readValue(
  { id, schema }: RunQuestion & { kind: 'value' },
  message: Message,
): RunAnswer | { readonly problem: string } {
  const data = dataIn(message)
  const text = textIn(message)
  if (schema === undefined) return { id, value: data ?? text }
  const form = formSchema(schema)
  const given = data === undefined ? valuesInText(text, form) : (acceptedContent(data, form) ?? data)
  // A program that knows the schema may send the value itself.
  const values = !isForm(schema) && given !== undefined && !Object.hasOwn(given, 'answer') ? { answer: given } : given
  if (values === undefined) return { problem: 'name the fields, one per line' }
  const problems = formProblems(values, form)
  if (problems.length > 0) return { problem: problems.join('; ') }
  return { id, value: isForm(schema) ? values : (values['answer'] ?? null) }
}

function valuesInText(text: string, form: Struct): Struct | undefined {
  const fields = schemaFields(form)
  const required = requiredFields(form)
  const names = Object.keys(fields)
  const wanted = required.length === 1 || names.length !== 1 ? required : names
  const read = parseInput(text, form, wanted)
  if (read !== undefined || wanted[0] === undefined) return read
  return wanted.length === 1 ? { [wanted[0]]: parseValue(text, ownField(fields, wanted[0]) ?? {}) } : undefined
}

/** The answer in the form of MCP: `{ action: 'accept', content: {…} }`. */
function acceptedContent({ action, content }: Struct, form: Struct): Struct | undefined {
  return action === 'accept' && isStruct(content) && !Object.hasOwn(schemaFields(form), 'action') ? content : undefined
}

function textIn({ parts }: Message): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

function dataIn({ parts }: Message): Struct | undefined {
  return parts.map((part) => ('data' in part ? part.data : undefined)).find(isStruct)
}
