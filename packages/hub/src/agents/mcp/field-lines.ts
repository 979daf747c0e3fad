/** The fields of a schema as text, one per line: its name, whether it is optional, its description and its allowed values. */
import { isStruct } from '@parley/a2a'
import type { Json, Struct } from '@parley/a2a'
import { schemaFields, requiredFields } from './parse-input.ts'

export function fieldLines(schema: Struct): readonly string[] {
  const required = requiredFields(schema)
  return Object.entries(schemaFields(schema)).map(([name, field]) => {
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
