/** The console has the types of the current admin API. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { adminTypes, readDocument, outputFile } from './admin-types.ts'

const scratch = mkdtempSync(join(import.meta.dirname, '../node_modules/.parley-types-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the types of the admin API', () => {
  it('match the OpenAPI document of the hub: run `npm run admin-types`', async () => {
    const file = join(scratch, 'admin.ts')
    writeFileSync(file, adminTypes(await readDocument()))
    const settings = join(import.meta.dirname, '../.oxfmtrc.json')
    execFileSync('oxfmt', ['--config', settings, file])
    assert.equal(readFileSync(file, 'utf8'), readFileSync(outputFile, 'utf8'))
  })

  it('have the input and the response of an operation', () => {
    const operation = {
      operationId: 'getThing',
      summary: 'A thing.',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'limit', in: 'query', required: false, schema: { type: 'integer' } },
      ],
      responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
    }
    const thing = {
      type: 'object',
      required: ['a'],
      properties: { a: { enum: ['x', 'y'] }, b: { type: 'array', items: {} } },
    }
    const made = adminTypes({
      paths: { '/things/{id}': { get: operation } },
      components: { schemas: { Thing: thing } },
    })
    assert.match(made, /export type Thing = \{ readonly a: "x" \| "y"; readonly b\?: readonly \(unknown\)\[\] \}/)
    assert.match(
      made,
      /getThing: \{ params: \{ id: string \}; query: Optional<\{ limit: number \}>; response: Thing \}/,
    )
    assert.match(made, /getThing: \['GET', '\/things\/\{id\}'\]/)
  })

  it('write an object with the fields of a named schema as an extension of it', () => {
    const name = { type: 'string', description: 'Unique.' }
    const schemas = {
      Thing: { type: 'object', required: ['name'], properties: { name } },
      FoundThing: { type: 'object', required: ['name', 'at'], properties: { name, at: { type: 'integer' } } },
    }
    const made = adminTypes({ paths: {}, components: { schemas } })
    assert.match(made, /export type Thing = \{\n\/\*\* Unique. \*\/\nreadonly name: string \}/)
    assert.match(made, /export type FoundThing = Thing & \{ readonly at: number \}/)
  })
})
