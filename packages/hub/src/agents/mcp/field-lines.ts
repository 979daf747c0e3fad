/** The fields of a schema for people to read, a line each: its name, whether it may be left out, what it is, and what may be said. */
import type { Json, Struct } from '@parley/a2a'
import { fieldsOf, isStruct, requiredOf } from './words.ts'

export function fieldLines(schema: Struct): readonly string[] {
  const required = requiredOf(schema)
  return Object.entries(fieldsOf(schema)).map(([name, field]) => {
    const about = [field['title'], field['description']].filter((text) => typeof text === 'string').join(': ')
    const choices = choicesOf(field)
    return [
      `- ${name}`,
      required.includes(name) ? '' : ' (optional)',
      about === '' ? '' : `: ${about}`,
      choices.length > 0 ? ` [${choices.join(' | ')}]` : '',
    ].join('')
  })
}

function choicesOf(field: Struct): readonly string[] {
  const items = isStruct(field['items']) ? field['items'] : {}
  const listed = field['enum'] ?? items['enum']
  if (Array.isArray(listed)) return listed.map(String)
  const titled = field['oneOf'] ?? items['anyOf']
  if (!Array.isArray(titled)) return []
  return (titled as readonly Json[]).flatMap((one) =>
    isStruct(one) && typeof one['const'] === 'string' ? [one['const']] : [],
  )
}
