/** A request for approval as a question to the caller, and the meaning of the answer. */
import type { Json, Message } from '../model/task.ts'
import type { AgentMessage } from './agent.ts'

/** One of the answers that the caller may choose. */
export interface ApprovalOption {
  readonly optionId: string
  /** For people. */
  readonly name: string
  /** `allow_once`, `allow_always`, `reject_once` or `reject_always`: what "yes" and "no" choose. */
  readonly kind: string
}

/** A question whose answer is one of its options. JSON, so that a checkpoint can store it. */
export interface ApprovalQuestion {
  readonly title: string
  readonly options: readonly ApprovalOption[]
  /** What is approved, for programs: the arguments of a tool call. */
  readonly arguments?: Json
}

/**
 * The question as a message: lists the options as text for people, as data for programs and as a form.
 *
 * @example
 * ```ts
 * yield inputRequired(approvalMessage({ title: 'Delete 3 files', options }))
 * ```
 */
export function approvalMessage(question: ApprovalQuestion, isRepeated = false): AgentMessage {
  const { title, options, arguments: given } = question
  const list = options.map(({ name }, index) => `${index + 1}. ${name}`).join('\n')
  const lead = isRepeated ? 'That is not one of the options. ' : ''
  const text = `${lead}The agent asks for permission: ${title}\n\n${list}\n\nAnswer with a number, or with the name of an option.`
  return {
    parts: [
      { text },
      {
        data: {
          permission: {
            title,
            options: options.map((option) => ({ ...option })),
            ...(given !== undefined ? { arguments: given } : {}),
          },
          requestedSchema: optionSchema(options),
        },
      },
    ],
  }
}

/** A form with one choice, as MCP clients and the console show it. */
function optionSchema(options: readonly ApprovalOption[]): Json {
  const choices = options.map(({ optionId, name }) => ({ const: optionId, title: name }))
  return {
    type: 'object',
    properties: { optionId: { type: 'string', title: 'Decision', oneOf: choices } },
    required: ['optionId'],
  }
}

/** The option that an answer selects: by id, name or number, as data or as text; otherwise undefined. */
export function parseOption({ parts }: Pick<Message, 'parts'>, { options }: ApprovalQuestion): string | undefined {
  for (const part of parts) {
    const given = 'data' in part ? optionIdInData(part.data) : undefined
    if (options.some(({ optionId }) => optionId === given)) return given
  }
  const text = parts.map((part) => ('text' in part ? part.text : '')).join(' ')
  const word = withoutFinalMarks(text.trim().toLowerCase())
  const byName = options.find(({ optionId, name }) => [optionId, name].some((each) => each.toLowerCase() === word))
  if (byName !== undefined) return byName.optionId
  const byNumber = /^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined
  return byNumber?.optionId ?? optionForYesNo(word, options)
}

/** Not by a pattern, which would take quadratic time for a text of dots. */
function withoutFinalMarks(text: string): string {
  let end = text.length
  while (text[end - 1] === '.' || text[end - 1] === '!') end -= 1
  return text.slice(0, end)
}

function optionIdInData(data: Json): string | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const { optionId, permission } = data as { readonly optionId?: Json; readonly permission?: Json }
  if (typeof optionId === 'string') return optionId
  return permission === undefined ? undefined : optionIdInData(permission)
}

/** Yes and no select an option for this time only, if there is one. */
function optionForYesNo(word: string, options: ApprovalQuestion['options']): string | undefined {
  if (/^(y|yes|ok|okay|allow|approve)$/.test(word)) return optionOfKind(options, 'allow')
  return /^(n|no|deny|reject|refuse)$/.test(word) ? optionOfKind(options, 'reject') : undefined
}

/** Selects an option without asking. Undefined if there is none of this kind. */
export function optionOfKind(
  options: readonly Pick<ApprovalOption, 'optionId' | 'kind'>[],
  wanted: 'allow' | 'reject',
): string | undefined {
  const fits = (kind: string) => options.find((option) => option.kind === kind)?.optionId
  return fits(`${wanted}_once`) ?? fits(`${wanted}_always`)
}
