/** docs/reference/configuration.md: every key of the configuration, from the JSON Schema that editors use. */
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'
import { fieldsIn, plainValue, resolverOf, typeText, type Field, type Resolve, type Schema } from './schema-text.ts'

/** When a changed key takes effect, by the name of a section or of a setting in it. */
export type Effects = Readonly<Record<string, string | Readonly<Record<string, string>>>>

const columns = ['Key', 'Type', 'Default', 'Applied', 'Description']

export function configurationPage(schema: Schema, effects: Effects): string {
  const resolve = resolverOf(schema)
  const { agents, ...sections } = schema.properties ?? {}
  if (agents === undefined) throw new Error('The schema has no agents')
  const names = ['agents', ...Object.keys(sections)]
  return page(
    '# Configuration reference',
    generatedNotice,
    'Every key of `parley.yaml` (or `parley.yml`, `parley.json`). [Run the hub](../guides/run-the-hub.md) explains how to use them. Unknown keys are errors. ' +
      '`parley config check` reports all errors with their lines, and `parley config print` shows the configuration with all defaults.',
    'In a path, `[]` is each item of a list and `<name>` a name that you choose. The column *Applied* says when a change takes effect: ' +
      '`live` on reload, while the hub runs; `restart` when the hub starts again.',
    `Sections: ${names.map((name) => `[${name}](#${name.toLowerCase()})`).join(' · ')}`,
    '## Types',
    valueTypes(),
    agentsSection(agents, schema, resolve),
    ...Object.entries(sections).map(([name, section]) => sectionText(name, section, effects, resolve)),
  )
}

function valueTypes(): string {
  return table(
    ['Type', 'Examples'],
    [
      ['duration', '`500ms`, `30s`, `10m`, `12h`, `7d`'],
      ['size', '`64kB`, `20MB`, `1GB`, or a number of bytes'],
      ['rate', '`10/s`, `60/min`, `1000/h`, `5000/day`'],
      ['secret', 'a string that is never shown again. Keep it out of the file: `${env:NAME}`'],
    ],
  )
}

function agentsSection(agents: Schema, schema: Schema, resolve: Resolve): string {
  const entries = (agents.additionalProperties as Schema).oneOf ?? []
  const common = schema.$defs?.['agent'] ?? {}
  const kinds = [...new Set(entries.map(({ title = '' }) => title))]
  const own = (entry: Schema): Schema => ({
    ...entry,
    properties: Object.fromEntries(
      Object.entries(entry.properties ?? {}).filter(([, part]) => part.$ref === undefined),
    ),
  })
  const rows = (part: Schema): readonly Row[] => fieldsIn(part, resolve).map((field) => rowOf(field, 'live', resolve))
  return page(
    '## agents',
    'Required. The agents of the hub: a map from the name in their address to their settings. Every entry has a `kind`; the other keys follow from it.',
    '### Keys of every agent',
    table(columns, rows(common)),
    ...kinds.map((kind) =>
      page(
        `### kind: ${kind}`,
        table(
          columns,
          rows({ anyOf: entries.filter(({ title }) => title === kind).map(own) }).filter(([key]) => key !== '`kind`'),
        ),
      ),
    ),
  )
}

function sectionText(name: string, section: Schema, effects: Effects, resolve: Resolve): string {
  const effect = effects[name]
  const effectOf = (path: string): string => {
    if (typeof effect === 'string') return effect
    return (
      effect?.[
        path
          .slice(name.length + 1)
          .split(/[.[]/, 1)
          .join()
      ] ?? ''
    )
  }
  const self: Field = { path: name, schema: section, isRequired: false }
  const inside = fieldsIn(section, resolve, undefined, name)
  const fields = inside.length === 0 || section.type !== 'object' ? [self, ...inside] : inside
  const { description } = splitDefault(section)
  return page(
    `## ${name}`,
    inside.length === 0 ? '' : text(description),
    table(
      columns,
      fields.map((field) =>
        rowOf(field, field === self && typeof effect === 'string' ? effect : effectOf(field.path), resolve),
      ),
    ),
  )
}

function rowOf({ path, schema, isRequired }: Field, effect: string, resolve: Resolve): Row {
  const own = schema.$ref === undefined ? schema : { ...resolve(schema.$ref), ...schema }
  const { description, fallback } = splitDefault(own)
  const type = `${typeText(own, resolve)}${own.writeOnly === true ? ' (secret)' : ''}`
  return [code(path), type, isRequired ? '*required*' : fallback, code(effect), text(description)]
}

const restartNote = /\s*Takes effect after a restart\./

/** The default stands in a column of its own: from the schema, or as its description says it. */
export function splitDefault(schema: Schema): { readonly description: string; readonly fallback: string } {
  const whole = (schema.description ?? '').replace(restartNote, '').trim()
  const said = /(?:^|\s)Default:? (.+?)\.(?=\s|$)/.exec(whole)
  const value = schema.default
  const isPlain = value !== undefined && !isEmptyValue(value)
  const fallback = isPlain ? code(plainValue(value)) : ''
  if (said === null) return { description: whole, fallback }
  const [sentence, words = ''] = said
  const rest = `${whole.slice(0, said.index)}${whole.slice(said.index + sentence.length)}`.trim()
  if (!isPlain) return { description: rest, fallback: /^[\w.]+$/.test(words) ? code(words) : text(words) }
  // The same value twice; anything else that the sentence says stays in the description.
  return plainValue(value) === words ? { description: rest, fallback } : { description: whole, fallback }
}

function isEmptyValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
