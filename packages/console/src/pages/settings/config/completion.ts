/**
 * Completes keys and values of the schema at a position in a YAML text. Uses the indentation of the lines above (block style);
 * offers nothing in flow style (`{ a: 1 }`).
 */
import { positionAt } from './text-edits.ts'

export interface ConfigSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, ConfigSchema>>
  readonly additionalProperties?: ConfigSchema | boolean
  readonly items?: ConfigSchema
  readonly oneOf?: readonly ConfigSchema[]
  readonly anyOf?: readonly ConfigSchema[]
  readonly allOf?: readonly ConfigSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
}

export interface Completion {
  readonly label: string
  readonly insert: string
  readonly about: string
}

export interface CompletionList {
  /** Start of the typed prefix, which is replaced. */
  readonly from: number
  readonly to: number
  readonly items: readonly Completion[]
}

interface YamlLine {
  readonly indent: number
  readonly isItem: boolean
  readonly key: string | undefined
  readonly value: string
}

export function completionAt(text: string, offset: number, root: ConfigSchema): CompletionList | undefined {
  const lines = text.split('\n')
  const { line: number, column } = positionAt(text, offset)
  const line = lines[number - 1] ?? ''
  const typed = line.slice(0, column - 1)
  if (/[{["'#]/.test(typed)) return undefined
  const parts = /^((?: |- )*)(?:([\w$.~-]+):\s+)?([\w$.~-]*)$/.exec(typed)
  if (parts === null) return undefined
  const [, lead = '', key, word = ''] = parts
  const above = parentsOf(lines, number - 1, lead.length)
  const siblings = siblingsOf(lines, number - 1, lead.length)
  const at = schemasAt(root, root, above, siblings)
  const known = key === undefined ? keysOf(root, at, siblings) : valuesOf(root, at, key)
  const offers = known.filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()) && label !== word)
  return offers.length === 0 ? undefined : { from: offset - word.length, to: offset, items: offers }
}

function parseLine(line: string): YamlLine | undefined {
  if (/^\s*(#|$)/.test(line)) return undefined
  const [, lead = '', key, value = ''] = /^((?: |- )*)(?:([\w$.~-]+):(?:\s+(.*))?$)?/.exec(line) ?? []
  return { indent: lead.length, isItem: lead.includes('-'), key, value: value.replace(/\s+#.*$/, '').trim() }
}

/** The parent keys of a line, outermost first; `[]` for a list item. */
function parentsOf(lines: readonly string[], index: number, indent: number): readonly string[] {
  const path: string[] = []
  let within = indent
  if (/^ *- /.test(lines[index] ?? '')) {
    path.unshift('[]')
    within = (lines[index] ?? '').indexOf('-') + 1
  }
  for (let at = index - 1; at >= 0 && within > 0; at -= 1) {
    const line = parseLine(lines[at] ?? '')
    if (line === undefined) continue
    const dash = line.isItem ? (lines[at] ?? '').indexOf('-') : -1
    if (line.indent < within && line.key !== undefined && line.value === '') {
      path.unshift(line.key)
      within = line.indent
    }
    if (dash >= 0 && dash < within) {
      if (path[0] !== '[]' || line.indent === within) path.unshift('[]')
      within = dash + 1
    }
  }
  return path
}

/** The other keys of the same mapping, with their values. */
function siblingsOf(lines: readonly string[], index: number, indent: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const look = (from: number, step: 1 | -1): void => {
    for (let at = from; at >= 0 && at < lines.length; at += step) {
      const line = parseLine(lines[at] ?? '')
      if (line === undefined) continue
      if (line.indent < indent) return
      if (line.indent === indent && line.key !== undefined) found.set(line.key, line.value)
      if (line.indent === indent && line.isItem && step === -1) return
      if (line.isItem && step === 1 && line.indent === indent) return
    }
  }
  if (!/^ *- /.test(lines[index] ?? '')) look(index - 1, -1)
  look(index + 1, 1)
  return found
}

/** Every schema that applies there. If there are several kinds, the one that the sibling `kind` names. */
function schemasAt(
  root: ConfigSchema,
  schema: ConfigSchema,
  path: readonly string[],
  siblings: ReadonlyMap<string, string>,
): readonly ConfigSchema[] {
  let at: readonly ConfigSchema[] = [schema]
  for (const step of path) {
    at = at
      .flatMap((one) => branches(root, one))
      .flatMap((one) => {
        if (step === '[]') return one.items === undefined ? [] : [one.items]
        const named = one.properties?.[step]
        if (named !== undefined) return [named]
        return typeof one.additionalProperties === 'object' ? [one.additionalProperties] : []
      })
  }
  const all = at.flatMap((one) => branches(root, one))
  const kind = siblings.get('kind')
  const ofKind = all.filter(({ properties }) => properties?.['kind']?.const === kind)
  return kind !== undefined && ofKind.length > 0 ? ofKind : all
}

function branches(root: ConfigSchema, schema: ConfigSchema): readonly ConfigSchema[] {
  const here = resolved(root, schema)
  const more = [...(here.oneOf ?? []), ...(here.anyOf ?? []), ...(here.allOf ?? [])]
  return [here, ...more.flatMap((one) => branches(root, one))]
}

function resolved(root: ConfigSchema, schema: ConfigSchema): ConfigSchema {
  if (schema.$ref === undefined) return schema
  const steps = schema.$ref.replace(/^#\/?/, '').split('/')
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], root)
  return (found as ConfigSchema | undefined) ?? {}
}

function keysOf(
  root: ConfigSchema,
  at: readonly ConfigSchema[],
  siblings: ReadonlyMap<string, string>,
): readonly Completion[] {
  const found = new Map<string, Completion>()
  for (const { properties = {} } of at) {
    for (const [label, schema] of Object.entries(properties)) {
      if (siblings.has(label) || found.has(label)) continue
      const { description = '' } = { ...resolved(root, schema), ...schema }
      found.set(label, { label, insert: `${label}: `, about: description })
    }
  }
  return [...found.values()]
}

function valuesOf(root: ConfigSchema, at: readonly ConfigSchema[], key: string): readonly Completion[] {
  const schemas = at.flatMap(({ properties }) => {
    const schema = properties?.[key]
    return schema === undefined ? [] : branches(root, schema)
  })
  const values = schemas.flatMap(({ enum: several = [], const: one, type }) => [
    ...several,
    ...(one === undefined ? [] : [one]),
    ...(type === 'boolean' && one === undefined ? [true, false] : []),
  ])
  return [...new Set(values.map(String))].map((label) => ({ label, insert: label, about: '' }))
}
