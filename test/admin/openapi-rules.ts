/**
 * The rules of OpenAPI 3.1 and JSON Schema 2020-12 that our document uses; a
 * keyword that is unknown here is an error, so that nothing passes unchecked.
 */

type Json = Readonly<Record<string, any>>

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const places = ['path', 'query', 'header', 'cookie']
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const keywords = new Set(
  [
    '$ref type enum const description default title format deprecated writeOnly readOnly examples',
    'properties required additionalProperties propertyNames items minItems maxItems',
    'minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    'anyOf oneOf allOf not',
  ].flatMap((line) => line.split(' ')),
)

/** All violations, each with its path. */
export function findOpenApiErrors(document: Json): readonly string[] {
  const wrong: string[] = []
  const expect = (holds: unknown, what: string): void => {
    if (holds !== true) wrong.push(what)
  }
  expect(/^3\.1\.\d+$/.test(document.openapi), 'openapi: not 3.1')
  expect(typeof document.info?.title === 'string' && typeof document.info?.version === 'string', 'info: incomplete')
  for (const { url } of document.servers ?? []) expect(URL.canParse(url), `servers: ${url}`)
  expect(isObject(document.paths), 'paths: missing')
  const names = new Map<string, string>()
  const schemes = document.components?.securitySchemes ?? {}
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    expect(path.startsWith('/'), `${path}: begins with no slash`)
    for (const [method, operation] of Object.entries<Json>(item)) {
      const at = `${method.toUpperCase()} ${path}`
      expect(methods.includes(method), `${at}: no method`)
      checkOperation(operation, path, at)
    }
  }
  for (const [name, schema] of Object.entries<Json>(document.components?.schemas ?? {})) {
    expect(/^[\w.-]+$/.test(name), `components.schemas.${name}: no name`)
    checkSchema(schema, `components.schemas.${name}`)
  }
  for (const [name, scheme] of Object.entries<Json>(schemes)) {
    const needs: Record<string, readonly string[]> = { http: ['scheme'], apiKey: ['name', 'in'] }
    const fields = needs[scheme.type] ?? ['an unknown type']
    for (const field of fields) expect(typeof scheme[field] === 'string', `securitySchemes.${name}: ${field}`)
  }
  return wrong

  function checkOperation(operation: Json, path: string, at: string): void {
    const { operationId, parameters = [], requestBody, responses, security = [], tags = [], summary } = operation
    expect(typeof operationId === 'string' && !names.has(operationId), `${at}: operationId`)
    names.set(operationId, at)
    expect(typeof summary === 'string' && summary.length <= 120, `${at}: summary`)
    for (const tag of tags)
      expect(
        document.tags.some(({ name }: Json) => name === tag),
        `${at}: tag ${tag}`,
      )
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = parameters.filter((one: Json) => one.in === 'path').map((one: Json) => one.name)
    expect(
      inPath.length === declared.length && inPath.every((name) => declared.includes(name)),
      `${at}: ${declared.join()} for ${inPath.join()}`,
    )
    const known = new Set<string>()
    for (const { name, in: place, required, schema } of parameters) {
      expect(places.includes(place) && typeof name === 'string', `${at}: parameter ${name}`)
      expect(!known.has(`${place} ${name}`), `${at}: ${name} twice`)
      known.add(`${place} ${name}`)
      expect(place !== 'path' || required === true, `${at}: ${name} is not required`)
      checkSchema(schema, `${at}: ${name}`)
    }
    if (requestBody !== undefined) checkContent(requestBody.content, `${at}: request`)
    expect(Object.keys(responses).length > 0, `${at}: no responses`)
    for (const [status, response] of Object.entries<Json>(responses)) {
      expect(/^([1-5]\d\d|default)$/.test(status), `${at}: ${status}`)
      expect(typeof response.description === 'string', `${at}: ${status}: description`)
      checkContent(response.content ?? {}, `${at}: ${status}`)
    }
    expect(security.length > 0, `${at}: requires no credentials`)
    for (const way of security) {
      for (const name of Object.keys(way)) expect(name in schemes, `${at}: ${name} is no security scheme`)
    }
  }

  function checkContent(content: Json, at: string): void {
    for (const [type, { schema }] of Object.entries<Json>(content)) {
      expect(/^[\w.+-]+\/[\w.+-]+$/.test(type), `${at}: ${type}`)
      checkSchema(schema, `${at}: ${type}`)
    }
  }

  function checkSchema(schema: unknown, at: string): void {
    if (typeof schema === 'boolean') return
    if (!isObject(schema)) return void wrong.push(`${at}: no schema`)
    for (const keyword of Object.keys(schema)) expect(keywords.has(keyword), `${at}: ${keyword} is no keyword`)
    const { $ref, type, properties = {}, required = [], items, additionalProperties, propertyNames, pattern } = schema
    if ($ref !== undefined) expect(resolve(document, $ref) !== undefined, `${at}: ${$ref} leads nowhere`)
    for (const one of [type ?? []].flat()) expect(types.includes(one), `${at}: type ${one}`)
    expect(
      required.every((name: string) => name in properties),
      `${at}: requires what it has not`,
    )
    if (pattern !== undefined) expect(isPattern(pattern), `${at}: pattern`)
    for (const [name, part] of Object.entries(properties)) checkSchema(part, `${at}.${name}`)
    for (const part of [items, additionalProperties, propertyNames, schema.not]) {
      if (part !== undefined) checkSchema(part, `${at}[]`)
    }
    for (const list of ['anyOf', 'oneOf', 'allOf']) {
      const parts = schema[list]
      if (parts === undefined) continue
      expect(Array.isArray(parts) && parts.length > 0, `${at}: ${list}`)
      for (const part of parts) checkSchema(part, `${at}.${list}`)
    }
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function resolve(document: Json, reference: string): Json | undefined {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .reduce<any>((at, step) => at?.[step], document)
}

/** The violations of a value against a schema of the document. */
export function findSchemaMismatch(document: Json, schema: any, value: unknown, at = '$'): string | undefined {
  if (schema === true || schema === undefined) return undefined
  if (schema === false) return `${at}: must not be there`
  if (schema.$ref !== undefined) return findSchemaMismatch(document, resolve(document, schema.$ref), value, at)
  if (schema.const !== undefined && value !== schema.const) return `${at}: not ${schema.const}`
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return `${at}: ${String(value)} is none of ${schema.enum}`
  if (schema.type !== undefined && ![schema.type].flat().some((type: string) => hasJsonType(type, value))) {
    return `${at}: no ${schema.type}, but ${JSON.stringify(value)?.slice(0, 80)}`
  }
  const of = (parts: readonly unknown[]) => parts.map((part) => findSchemaMismatch(document, part, value, at))
  if (schema.anyOf !== undefined && !of(schema.anyOf).includes(undefined))
    return `${at}: none of several: ${of(schema.anyOf).join()}`
  if (schema.oneOf !== undefined && of(schema.oneOf).filter((one) => one === undefined).length !== 1)
    return `${at}: oneOf`
  const all = of(schema.allOf ?? []).find((one) => one !== undefined)
  if (all !== undefined) return all
  if (typeof value === 'string') {
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) return `${at}: no time`
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) return `${at}: ${schema.pattern}`
  }
  if (Array.isArray(value)) {
    return value
      .map((item, index) => findSchemaMismatch(document, schema.items, item, `${at}[${index}]`))
      .find((one) => one !== undefined)
  }
  if (!isObject(value)) return undefined
  const { properties = {}, required = [], additionalProperties } = schema
  const missing = required.find((name: string) => !(name in value))
  if (missing !== undefined) return `${at}: ${missing} is missing`
  return Object.entries(value)
    .map(([name, part]) =>
      findSchemaMismatch(document, properties[name] ?? additionalProperties, part, `${at}.${name}`),
    )
    .find((one) => one !== undefined)
}

function hasJsonType(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
