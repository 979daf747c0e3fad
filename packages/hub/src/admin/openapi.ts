/** The OpenAPI document of the hub's own routes, generated from the schemas that validate them. */
import { z } from 'zod'
import { routeErrorCodes } from '../http/json-response.ts'
import type { RouteAccess, AdminRoute } from './route.ts'

type JsonObject = Record<string, unknown>

export interface OpenApiInfo {
  readonly version: string
  /** The URL of the hub. */
  readonly url: string | undefined
}

const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(routeErrorCodes).describe('For programs.'),
      message: z.string().describe('For people.'),
      violations: z
        .array(z.strictObject({ field: z.string(), description: z.string() }))
        .optional()
        .describe('Every error, with its location.'),
    }),
  })
  .meta({ id: 'Error' })

const securitySchemes = {
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin key, which the hub creates at its first start, or a token with the scope `admin`.',
  },
  session: { type: 'apiKey', in: 'cookie', name: 'parley-session', description: 'Set by POST /admin/session.' },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The CSRF token of the session; required for changes.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'A token of an issuer, whose bearer may use the agent.' },
}

export function buildOpenApi(routes: readonly AdminRoute[], { version, url }: OpenApiInfo): JsonObject {
  const schemas: JsonObject = {}
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): JsonObject => hoistDefinitions(schema, io, schemas)
  const error = schemaOf(errorSchema, 'output')
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const operations = (paths[route.path] ??= {})
    operations[route.method.toLowerCase()] = operationOf(route, schemaOf, error)
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name }))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley admin API',
      version,
      description: 'The API of the console of a Parley hub, for programs too.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(url !== undefined ? { servers: [{ url }] } : {}),
    tags,
    paths,
    components: { schemas, securitySchemes },
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => JsonObject

function operationOf(route: AdminRoute, schemaOf: SchemaOf, error: JsonObject): JsonObject {
  const { name, summary, description, tag, params, query, body } = route
  const parameters = [
    ...parametersOf(params, 'path', schemaOf),
    ...parametersOf(query, 'query', schemaOf),
    ...('stream' in route ? [lastEventId] : []),
  ]
  return {
    operationId: name,
    summary,
    ...(description !== undefined ? { description } : {}),
    tags: [tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body !== undefined
      ? { requestBody: { required: !body.isOptional(), content: content(schemaOf(body, 'input')) } }
      : {}),
    responses: {
      ...responsesOf(route, schemaOf),
      default: { description: 'The error.', content: content(error) },
    },
    security: securityOf(route.access ?? 'admin', route.method === 'GET'),
  }
}

function responsesOf(route: AdminRoute, schemaOf: SchemaOf): JsonObject {
  if ('redirect' in route) return { 303: { description: 'A redirect of the browser.' } }
  if ('stream' in route) {
    const events = Object.entries(route.events).map(
      ([name, data]) => `- \`${name}\`: ${data.description ?? shapeOf(data)}`,
    )
    const media = { schema: { type: 'string', description: `Server-sent events:\n${events.join('\n')}` } }
    return { 200: { description: 'The changes, as a stream.', content: { 'text/event-stream': media } } }
  }
  const status = route.status ?? 200
  return { [status]: { description: 'Done.', content: content(schemaOf(route.response, 'output')) } }
}

/** The names of its fields, for display. */
function shapeOf(schema: z.ZodType): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return names.length === 0 ? 'no data' : names.join(', ')
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last received event.',
  schema: { type: 'string' },
}

function parametersOf(
  schema: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemaOf: SchemaOf,
): readonly JsonObject[] {
  if (schema === undefined) return []
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...shape } = schemaOf(field as z.ZodType, 'input')
    const isList = shape['type'] === 'array'
    return {
      name,
      in: place,
      required: place === 'path' || !(field as z.ZodType).isOptional(),
      ...(description !== undefined ? { description } : {}),
      schema: shape,
      ...(isList ? { style: 'form', explode: false } : {}),
    }
  })
}

function content(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } }
}

function securityOf(right: RouteAccess, isReading: boolean): readonly JsonObject[] {
  if (right === 'anybody') return [{}]
  const session = isReading ? { session: [] } : { session: [], csrf: [] }
  if (right === 'key') return [{ adminKey: [] }]
  return [{ adminKey: [] }, session, ...(right === 'maker' ? [{ token: [] }] : [])]
}

/** Moves named schemas to the components. */
function hoistDefinitions(schema: z.ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  const { $schema: _, $defs = {}, ...rest } = relinkRefs(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  Object.assign(schemas, $defs)
  return rest
}

function relinkRefs(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonObject
}
