/**
 * The content of a message as one text, by which a repeat is recognized (B-163). It is the same for one message in any key order,
 * and in every version and binding. All of it counts: parts, files, metadata, ids of task and context. The messageId does not: it
 * is compared separately.
 */
import type { Json, Message, Part } from '../../model/task.ts'

export function canonicalText({ messageId: _, parts, ...rest }: Message): string {
  const written = parts.map((part) => fieldsOf(part, isUnsetField(part)))
  return fieldsOf({ ...rest, parts: `[${written.join(',')}]` }, isEmpty, 'parts')
}

type Fields = { readonly [name: string]: unknown }

/** An object with sorted keys, without unset fields. The value of `written` is already a text. */
function fieldsOf(object: object, isLeftOut: (value: unknown, name: string) => boolean, written?: string): string {
  const fields = object as Fields
  let text = ''
  for (const name of Object.keys(fields).toSorted()) {
    const value = fields[name]
    if (isLeftOut(value, name)) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${name === written ? (value as string) : write(value as Json)}`
  }
  return `{${text}}`
}

function write(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Array.isArray(value) ? `[${value.map(write).join(',')}]` : fieldsOf(value, isUndefined)
}

/** gRPC and 0.x cannot distinguish empty from absent, and 0.x cannot mark a text as text. */
function isUnsetField(part: Part): (value: unknown, name: string) => boolean {
  const usualType = 'text' in part ? 'text/plain' : 'data' in part ? 'application/json' : undefined
  return (value, name) => {
    if (name === 'text' || name === 'raw' || name === 'data') return isUndefined(value)
    return isEmpty(value) || (name === 'mediaType' && value === usualType)
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === '' || value === null
  return Object.keys(value).length === 0
}

function isUndefined(value: unknown): boolean {
  return value === undefined
}
