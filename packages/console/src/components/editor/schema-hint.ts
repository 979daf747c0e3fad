/** What the schema says about the key at a position: its path, type, default and description. */
import { schemaBranches, schemaDefaultText, schemasAt, schemaTypeText, type ConfigSchema } from './config-schema.ts'
import { yamlKeyAt } from './yaml-position.ts'

export interface SchemaHint {
  /** `agents.gpt.model`. */
  readonly path: string
  readonly type: string
  readonly defaultText: string | undefined
  readonly about: string
  readonly isRequired: boolean
  readonly isSecret: boolean
}

/** `undefined` for a position without a key; an unknown key has a hint of the check instead. */
export function schemaHintAt(text: string, offset: number, root: ConfigSchema): SchemaHint | undefined {
  const position = yamlKeyAt(text, offset)
  if (position === undefined) return undefined
  const { path, key, siblings } = position
  // The key that selects the shape is explained with all its values, not only the chosen one.
  const isKind = key === 'kind'
  const parents = schemasAt(root, path, isKind ? new Map() : siblings)
  const owner = parents.find(({ properties }) => properties !== undefined && Object.hasOwn(properties, key))
  const open = parents.find(({ additionalProperties }) => typeof additionalProperties === 'object')
  const schema = owner?.properties?.[key] ?? (open?.additionalProperties as ConfigSchema | undefined)
  if (schema === undefined) return undefined
  const [first = schema] = schemaBranches(root, schema)
  const names = [...path.map((step) => step.key), key]
  return {
    path: names.join('.').replaceAll('.[]', '[]'),
    type: isKind ? kindsOf(parents).join(' | ') : (kindText(root, first) ?? schemaTypeText(root, first)),
    defaultText: schemaDefaultText(first),
    about: first.description ?? '',
    isRequired: owner?.required?.includes(key) === true,
    isSecret: first.writeOnly === true,
  }
}

/** An entry with many shapes, such as an agent, is described by the key that selects the shape. */
function kindText(root: ConfigSchema, schema: ConfigSchema): string | undefined {
  const kinds = kindsOf(schemaBranches(root, schema))
  return kinds.length > 1 ? `kind: ${kinds.join(' | ')}` : undefined
}

function kindsOf(schemas: readonly ConfigSchema[]): readonly string[] {
  const kinds = schemas.flatMap(({ properties }) => {
    const kind = properties?.['kind']?.const
    return typeof kind === 'string' ? [kind] : []
  })
  return [...new Set(kinds)]
}
