/** The editor schema is the schema that validates, and every agent kind follows the conventions that other code relies on. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { agentFields } from './sections/agent-fields.ts'
import { configSchema, editorSchema, kindEntrySchemas, toJsonSchema, type JsonSchema } from './json-schema.ts'

const file = join(import.meta.dirname, '../../parley.schema.json')

describe('parley.schema.json', () => {
  it('is what `parley config schema` prints: write it anew when this fails', () => {
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(JSON.stringify(editorSchema(agentKinds))))
  })

  it('knows every section and refuses others', () => {
    const { properties = {}, additionalProperties, required } = configSchema(agentKinds)
    assert.equal(additionalProperties, false)
    assert.deepEqual(required, ['agents'])
    assert.ok(
      ['listen', 'store', 'agents', 'access', 'limits', 'routes', 'retention'].every((name) => name in properties),
    )
    assert.ok(!('roads' in properties))
  })

  it('refers only to what is in it', () => {
    const schema = editorSchema(agentKinds)
    const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    assert.ok(refs.length > 0)
    for (const path of refs) {
      const found = path.split('/').reduce<any>((part, step) => part?.[step], schema)
      assert.ok(found !== undefined, path)
    }
  })
})

describe('each kind of agent', () => {
  it('has a name of its own', () => {
    const names = agentKinds.map(({ kind }) => kind)
    assert.deepEqual(names, [...new Set(names)])
  })

  for (const kind of agentKinds) {
    const shapes = kindEntrySchemas({ ...kind, schema: kind.schema })

    it(`${kind.kind}: refuses what it does not know`, () => {
      for (const shape of alternatives(toJsonSchema(kind.schema))) {
        assert.equal(shape.type, 'object')
        assert.equal(shape.additionalProperties, false, 'make it a z.strictObject')
      }
      const read = kind.schema.safeParse({ 'no kind has such a field': 1 })
      assert.ok(!read.success)
    })

    it(`${kind.kind}: takes no name that every entry has`, () => {
      const own = alternatives(toJsonSchema(kind.schema)).flatMap((shape) => Object.keys(shape.properties ?? {}))
      assert.deepEqual(
        own.filter((name) => name === 'kind' || name in agentFields.shape),
        [],
      )
    })

    it(`${kind.kind}: has defaults that may be written as they are printed`, () => {
      const wrong = shapes.flatMap((shape) => mismatches(shape))
      assert.deepEqual(wrong, [], 'give a default in the words of the file: z.….prefault(…)')
    })
  }
})

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  const several = schema.anyOf ?? schema.oneOf
  return several === undefined ? [schema] : several.flatMap(alternatives)
}

/** Returns the defaults whose type differs from the type of the input. */
function mismatches(schema: JsonSchema, path = ''): readonly string[] {
  const types = [schema.type ?? []].flat().map(plainType)
  const fits = schema.default === undefined || types.length === 0 || types.includes(typeOf(schema.default))
  const own = fits ? [] : [`${path}: ${JSON.stringify(schema.default)}`]
  const parts = Object.entries(schema.properties ?? {})
  return [...own, ...parts.flatMap(([name, part]) => mismatches(part, `${path}.${name}`))]
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

function plainType(type: string): string {
  return type === 'integer' ? 'number' : type
}
