/**
 * What a waiting task asks, for people: the fields of a form and the options of a permission request in one line each, and the
 * arguments that answer it. The form itself, a JSON schema, is for programs.
 */
import { credentialsExtension, type Json, type Message, type Part, type SecurityScheme, type Struct } from '@parley/a2a'
import { asksForSecret, isStruct, fieldLines, requiredFields, schemaFields } from '@parley/a2a/internal'
import { describeScheme } from '../../auth/card-schemes.ts'
import { quoted } from '../task-text.ts'

/** The lines that the part adds to the text of its message; `undefined` if the part is not about an answer. */
export function questionLines(part: Part, text: string): readonly string[] | undefined {
  const data = 'data' in part && isStruct(part.data) ? part.data : undefined
  if (data === undefined) return undefined
  if (part.metadata?.[credentialsExtension] !== undefined) return schemeLines(data)
  const form = formIn(data)
  if (form === undefined) return undefined
  if (form === data) return formLines(form, text)
  // What is asked about, such as the arguments of a tool that wants to run, is part of the question.
  const { permission, requestedSchema: _form, ...others } = data
  const { title: _title, options: _options, ...about } = isStruct(permission) ? permission : {}
  const facts = Object.entries({ ...others, ...about })
  return [...facts.map(([name, value]) => `${name}: ${JSON.stringify(value)}`), ...formLines(form, text)]
}

/**
 * The arguments of `send` that answer the message: a text, data for a form with several fields, or stdin for a secret, which would stay
 * in the history of the shell.
 */
export function replyArguments(message: Message | undefined): string {
  if (asksForSecret(message)) return '-'
  const data = message?.parts.flatMap((part) => ('data' in part && isStruct(part.data) ? [part.data] : [])) ?? []
  const schema = data.map(formIn).find((form) => form !== undefined)
  const names = schema === undefined ? [] : Object.keys(schemaFields(schema))
  if (schema === undefined || names.length < 2) return '"<reply>"'
  const required = requiredFields(schema).filter((name) => names.includes(name))
  const values = (required.length === 0 ? names : required).map((name) => [name, `<${name}>`])
  return `--data ${quoted(JSON.stringify(Object.fromEntries(values)))}`
}

/** The form as a member, as our agents and MCP write it, or a part that is itself one. */
function formIn(data: Struct): Struct | undefined {
  const { requestedSchema, type, properties } = data
  if (isStruct(requestedSchema)) return requestedSchema
  return type === 'object' && isStruct(properties) ? data : undefined
}

/** Agents list the fields in their text too: only those that it leaves out. */
function formLines(schema: Struct, text: string): readonly string[] {
  const fields = Object.values(schemaFields(schema))
  return fieldLines(schema).filter((line, index) => {
    const { oneOf, enum: listed, items } = fields[index] ?? {}
    const choices = choicesIn(oneOf ?? listed ?? (isStruct(items) ? (items['anyOf'] ?? items['enum']) : undefined))
    return !text.includes(line) && !isMentioned(choices, text)
  })
}

/** How each choice may be called in a text. */
function choicesIn(list: Json | undefined): readonly (readonly string[])[] {
  if (!Array.isArray(list)) return []
  return (list as readonly Json[]).map((one) => {
    const { title, name, const: value } = isStruct(one) ? one : { const: one }
    return [title, name, value].filter((word) => typeof word === 'string')
  })
}

function isMentioned(choices: readonly (readonly string[])[], text: string): boolean {
  return choices.length > 0 && choices.every((names) => names.some((name) => text.includes(name)))
}

function schemeLines({ securitySchemes }: Struct): readonly string[] {
  if (!isStruct(securitySchemes)) return []
  const schemes = Object.entries(securitySchemes).map(([name, scheme]) => name + inWords(scheme))
  return schemes.length === 0 ? [] : [`Sign in with ${schemes.join(', or ')}`]
}

/** Not checked as the schemes of a card are: an agent may write anything. */
function inWords(scheme: Json): string {
  try {
    return ` (${describeScheme(scheme as unknown as SecurityScheme)})`
  } catch {
    return ''
  }
}
