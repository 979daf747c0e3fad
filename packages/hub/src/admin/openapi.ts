/** The OpenAPI document of the hub's own routes, made of the schemas that check what they take and say what they answer. */
import { z } from 'zod'
import { errorCodes } from './answer.ts'
import type { Right, Route } from './route.ts'

type Json = Record<string, unknown>

export interface OpenApiAbout {
  readonly version: string
  /** Where the hub is reached. */
  readonly url: string | undefined
}

const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes).meta({ description: 'For programs.' }),
      message: z.string().meta({ description: 'For people.' }),
      violations: z
        .array(z.strictObject({ field: z.string(), description: z.string() }))
        .optional()
        .meta({ description: 'Every mistake, with its place.' }),
    }),
  })
  .meta({ id: 'Error' })

const securitySchemes = {
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The admin key, which the hub makes at its first start; or a token that the configuration gives the scope `admin`.',
  },
  session: { type: 'apiKey', in: 'cookie', name: 'parley-session', description: 'As POST /admin/session sets it.' },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The token of the session, where something is changed.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'A token of an issuer, for an agent that its bearer may use.' },
}

export function openApi(routes: readonly Route[], { version, url }: OpenApiAbout): Json {
  const schemas: Json = {}
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => hoisted(schema, io, schemas)
  const error = schemaOf(errorSchema, 'output')
  const paths: Record<string, Json> = {}
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
      description: 'What the console of a Parley hub reads and does, and what a program can do in its place.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(url !== undefined ? { servers: [{ url }] } : {}),
    tags,
    paths,
    components: { schemas, securitySchemes },
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json

function operationOf(route: Route, schemaOf: SchemaOf, error: Json): Json {
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
      ...answersOf(route, schemaOf),
      default: { description: 'What went wrong.', content: content(error) },
    },
    security: securityOf(route.right ?? 'admin', route.method === 'GET'),
  }
}

function answersOf(route: Route, schemaOf: SchemaOf): Json {
  if ('redirect' in route) return { 303: { description: 'Where the browser goes next.' } }
  if ('stream' in route) {
    const events = Object.entries(route.events).map(
      ([name, data]) => `- \`${name}\`: ${data.description ?? shapeOf(data)}`,
    )
    const media = { schema: { type: 'string', description: `Server-sent events:\n${events.join('\n')}` } }
    return { 200: { description: 'The changes, as they come.', content: { 'text/event-stream': media } } }
  }
  const status = route.status ?? 200
  return { [status]: { description: 'Done.', content: content(schemaOf(route.answer, 'output')) } }
}

/** The names of its members, for people. */
function shapeOf(schema: z.ZodType): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return names.length === 0 ? 'no data' : names.join(', ')
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event that was heard.',
  schema: { type: 'string' },
}

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query', schemaOf: SchemaOf): readonly Json[] {
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

function content(schema: Json): Json {
  return { 'application/json': { schema } }
}

function securityOf(right: Right, isReading: boolean): readonly Json[] {
  if (right === 'anybody') return [{}]
  const session = isReading ? { session: [] } : { session: [], csrf: [] }
  if (right === 'key') return [{ adminKey: [] }]
  return [{ adminKey: [] }, session, ...(right === 'maker' ? [{ token: [] }] : [])]
}

/** What has a name stands once, among the components. */
function hoisted(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $schema: _, $defs = {}, ...rest } = relinked(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  Object.assign(schemas, $defs)
  return rest
}

function relinked(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}
