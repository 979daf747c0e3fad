/** The console's types of the admin API match the hub. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { adminTypes, readDocument, outputFile } from './admin-types.ts'

const scratch = mkdtempSync(join(import.meta.dirname, '../node_modules/.parley-types-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the types of the admin API', () => {
  it('are up to date: run `npm run admin-types`', async () => {
    const file = join(scratch, 'admin.ts')
    writeFileSync(file, adminTypes(await readDocument()))
    const settings = join(import.meta.dirname, '../.oxfmtrc.json')
    execFileSync('oxfmt', ['--config', settings, file])
    assert.equal(readFileSync(file, 'utf8'), readFileSync(outputFile, 'utf8'))
  })

  it('describe the parameters and results of an operation', () => {
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
    assert.match(made, /export type Thing = \{\nreadonly a: "x" \| "y"\nreadonly b\?: readonly \(unknown\)\[\]\n\}/)
    assert.match(
      made,
      /getThing: \{ params: \{ id: string \}; query: \{ limit\?: number \| undefined \}; body: undefined; answer: Thing \}/,
    )
    assert.match(made, /getThing: \['GET', '\/things\/\{id\}'\]/)
  })
})
