/** docs/reference/admin-api.md: every operation of the admin API, rendered from its OpenAPI document. */
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'
import { fieldsIn, resolverOf, typeText, type NameRef, type Resolve, type Schema } from './schema-text.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
  readonly security?: readonly Readonly<Record<string, unknown>>[]
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export function adminApiPage(document: OpenApi): string {
  const resolve = resolverOf(document)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, operation })),
  )
  const tags = [...new Set(operations.map(({ operation }) => tagOf(operation)))]
  return page(
    '# Admin API reference',
    generatedNotice,
    'Every operation of the admin API, from its OpenAPI document. A hub serves the document of its own version at `/admin/openapi.json`. ' +
      '[The admin API](admin.md) explains authentication and sessions, and [errors](errors.md#errors-of-the-admin-api) the codes of a failed request.',
    ...tags.map((tag) =>
      page(
        `## ${tag}`,
        ...operations
          .filter(({ operation }) => tagOf(operation) === tag)
          .map(({ line, operation }) => operationText(line, operation, resolve)),
      ),
    ),
    '## Schemas',
    ...Object.entries(document.components.schemas)
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, schema]) => schemaText(name, schema, resolve)),
  )
}

function tagOf({ tags = [] }: Operation): string {
  return tags[0] ?? 'Other'
}

function operationText(line: string, operation: Operation, resolve: Resolve): string {
  const { parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  return page(
    `### ${operation.operationId}`,
    `\`\`\`http\n${line}\n\`\`\``,
    text(operation.summary),
    operation.description === undefined ? '' : text(operation.description),
    `Access: ${accessText(operation.security ?? [])}.`,
    table(
      ['Parameter', 'In', 'Type', 'Description'],
      parameters.map(({ name, in: place, required, description, schema }): Row => [
        code(name),
        place,
        `${typeText(schema, resolve, schemaLink)}${required ? ' (required)' : ''}`,
        text(description ?? ''),
      ]),
    ),
    body === undefined
      ? ''
      : bodyText(`Request body${requestBody?.required === true ? '' : ' (optional)'}`, body, resolve),
    ...Object.entries(responses)
      .filter(([status]) => status !== 'default')
      .map(([status, response]) => responseText(status, response, resolve)),
  )
}

function responseText(
  status: string,
  { description, content = {} }: Operation['responses'][string],
  resolve: Resolve,
): string {
  const schema = content['application/json']?.schema
  if (schema !== undefined) return bodyText(`Response ${status}`, schema, resolve)
  const stream = content['text/event-stream']?.schema.description
  // The names of the events are a list in the description.
  return page(`**Response ${status}.** ${text(description ?? '')}`, stream ?? '')
}

function bodyText(title: string, schema: Schema, resolve: Resolve): string {
  const rows = fieldRows(schema, resolve)
  const type = typeText(schema, resolve, schemaLink)
  return page(`**${title}:** ${type}`, table(['Field', 'Type', 'Description'], rows))
}

function schemaText(name: string, schema: Schema, resolve: Resolve): string {
  const rows = fieldRows(schema, resolve)
  return page(
    `### ${name} (schema)`,
    text(schema.description ?? ''),
    rows.length === 0 ? typeText(schema, resolve, schemaLink) : table(['Field', 'Type', 'Description'], rows),
  )
}

function fieldRows(schema: Schema, resolve: Resolve): readonly Row[] {
  return fieldsIn(schema, resolve, schemaLink).map(({ path, schema: field, isRequired }): Row => [
    code(`${path}${isRequired ? '' : '?'}`),
    typeText(field, resolve, schemaLink),
    text(field.description ?? ''),
  ])
}

const schemaLink: NameRef = (ref) => {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? []
  return name === undefined ? undefined : `[${name}](#${name.toLowerCase()}-schema)`
}

const schemeTexts: Readonly<Record<string, string>> = {
  adminKey: 'the admin key or an admin token',
  session: 'a session',
  csrf: 'its CSRF token',
  token: 'a token whose bearer may use the agent',
}

function accessText(security: readonly Readonly<Record<string, unknown>>[]): string {
  const choices = security.map((schemes) =>
    Object.keys(schemes)
      .map((scheme) => schemeTexts[scheme] ?? scheme)
      .join(' with '),
  )
  return choices.every((choice) => choice === '') ? 'no credentials' : choices.join(', ')
}
