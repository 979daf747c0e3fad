/**
 * Writes what the console knows of the admin API, out of the hub's own OpenAPI document: each operation with what it takes
 * and answers, as types. So a route that changes is a type error in the page that calls it, and not a surprise in a browser.
 * A test checks that what is written is what the hub says.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentKinds } from '../packages/hub/src/agents/kinds.ts'
import { loadConfig } from '../packages/hub/src/config/load-config.ts'
import { startHub } from '../packages/hub/src/hub.ts'

type Json = { readonly [name: string]: unknown }

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Json
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
type Content = Readonly<Record<string, { readonly schema: Json }>>

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

export const outputFile = join(import.meta.dirname, '../packages/console/src/api/admin.ts')

const heading = `/**
 * The admin API as the hub describes it. Made by \`npm run admin-types\`; not to be edited.
 */
`

/** The whole file, before it is formatted. */
export function adminTypes({ paths, components }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answer = responseSchemaOf(operation)
      return answer === undefined ? [] : [{ path, method: method.toUpperCase(), operation, answer }]
    }),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`,
  )
  const shapes = operations.map(
    ({ operation, answer }) =>
      `  /** ${operation.summary} */\n  ${operation.operationId}: { ${inputsOf(operation)}; answer: ${typeOf(answer)} }\n`,
  )
  const table = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],\n`,
  )
  return [
    heading,
    ...schemas,
    `export interface Operations {\n${shapes.join('')}}\n`,
    `export const operations = {\n${table.join('')}} as const satisfies Readonly<Record<keyof Operations, readonly [method: string, path: string]>>\n`,
  ].join('\n')
}

function responseSchemaOf({ responses }: Operation): Json | undefined {
  for (const [status, { content }] of Object.entries(responses)) {
    if (status.startsWith('2')) return content?.['application/json']?.schema
  }
  return undefined
}

function inputsOf({ parameters = [], requestBody }: Operation): string {
  const body = requestBody?.content['application/json']?.schema
  return [
    `params: ${fieldsOf(parameters.filter((one) => one.in === 'path'))}`,
    `query: ${fieldsOf(parameters.filter((one) => one.in === 'query'))}`,
    `body: ${body === undefined ? 'undefined' : typeOf(body) + (requestBody?.required === true ? '' : ' | undefined')}`,
  ].join('; ')
}

function fieldsOf(parameters: readonly Parameter[]): string {
  const fields = parameters.map(
    ({ name, required, schema }) =>
      `${keyOf(name)}${required ? '' : '?'}: ${typeOf(schema)}${required ? '' : ' | undefined'}`,
  )
  return fields.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${fields.join('; ')} }`
}

function typeOf(schema: Json): string {
  const { $ref: ref, const: value, enum: values, anyOf, oneOf, allOf, type } = schema
  if (typeof ref === 'string') return ref.slice(ref.lastIndexOf('/') + 1)
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ')
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.map((one) => `(${typeOf(one as Json)})`).join(' | ')
  if (Array.isArray(allOf)) return allOf.map((one) => `(${typeOf(one as Json)})`).join(' & ')
  if (type === 'array') return `readonly (${typeOf((schema['items'] as Json | undefined) ?? {})})[]`
  if (type === 'object' || schema['properties'] !== undefined) return objectOf(schema)
  if (type === 'integer') return 'number'
  return typeof type === 'string' ? type : 'unknown'
}

function objectOf(schema: Json): string {
  const required = (schema['required'] as readonly string[] | undefined) ?? []
  const properties = Object.entries((schema['properties'] as Readonly<Record<string, Json>> | undefined) ?? {})
  const rest = schema['additionalProperties']
  if (properties.length === 0) {
    return `Readonly<Record<string, ${rest === false ? 'never' : typeOf((rest as Json | undefined) ?? {})}>>`
  }
  const lines = properties.map(([name, one]) => {
    const comment = typeof one['description'] === 'string' ? `/** ${one['description'].replaceAll('*/', '')} */\n` : ''
    return `${comment}readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(one)}`
  })
  return `{\n${lines.join('\n')}\n}`
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

/** As a hub without any settings of its own says it. */
export async function readDocument(): Promise<OpenApiDocument> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-admin-types-'))
  const key = 'k'.repeat(40)
  const otherwise = {
    listen: { port: 0, grpcPort: false },
    admin: { key },
    agents: { echo: { kind: 'demo', agent: 'echo' } },
  }
  const loaded = loadConfig({ fallback: otherwise, environment: {}, dataDir, cwd: dataDir, kinds: agentKinds })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const hub = await startHub(loaded.config, { log })
  try {
    const answer = await fetch(`${hub.url}/admin/openapi.json`, { headers: { authorization: `Bearer ${key}` } })
    return (await answer.json()) as OpenApiDocument
  } finally {
    await hub.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  await writeFile(outputFile, adminTypes(await readDocument()))
}
