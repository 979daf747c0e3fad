/** The generated pages of docs/reference are current, and their generators say what the data says. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { globalOptions } from '../../packages/cli/src/args/global-options.ts'
import { commands as a2aCommands } from '../../packages/cli/src/commands/index.ts'
import { commands } from '../../packages/hub/src/cli/commands.ts'
import { referencePages } from '../../scripts/docs-reference.ts'
import { adminApiPage } from '../../scripts/docs-reference/admin-api-page.ts'
import { cliPage } from '../../scripts/docs-reference/cli-page.ts'
import { configurationPage, splitDefault } from '../../scripts/docs-reference/configuration-page.ts'
import { text, table } from '../../scripts/docs-reference/markdown.ts'
import { fieldsIn, resolverOf, typeText } from '../../scripts/docs-reference/schema-text.ts'

const root = join(import.meta.dirname, '../..')
const pages = await referencePages()

describe('the generated reference', () => {
  for (const [path, generated] of Object.entries(pages)) {
    it(`${path} is current: run \`npm run docs:reference\``, () => {
      assert.equal(readFileSync(join(root, path), 'utf8'), generated)
    })
  }

  it('has a section for every command and every option of it', () => {
    const page = pages['docs/reference/cli.md'] ?? ''
    for (const { name, options } of commands) {
      const [, section = ''] = page.split(`\n## parley ${name}\n`)
      const own = section.split('\n## ')[0] ?? ''
      for (const option of options) assert.ok(own.includes(`--${option.name}`), `${name} --${option.name}`)
    }
  })

  it('has a section for every command of a2a, every option of it, and every global option', () => {
    const page = pages['docs/reference/a2a-command.md'] ?? ''
    for (const { name, options } of a2aCommands) {
      const own = (page.split(`\n## a2a ${name}\n`)[1] ?? '').split('\n## ')[0] ?? ''
      for (const option of options) assert.ok(own.includes(`--${option.name}`), `${name} --${option.name}`)
      assert.ok(own.includes(`a2a ${name}`), name)
    }
    for (const { name } of globalOptions) assert.ok(page.includes(`--${name}`), name)
  })

  it('describes every key of the configuration', () => {
    const page = pages['docs/reference/configuration.md'] ?? ''
    const rows = page.split('\n').filter((line) => /^\| `.* \| `(live|restart)` \|/.test(line))
    assert.ok(rows.length > 200, `${rows.length} keys`)
    assert.deepEqual(
      rows.filter((row) => / \| {2}\|$/.test(row)),
      [],
    )
  })
})

describe('the glossary', () => {
  it('defines each term once', () => {
    const terms = [...readFileSync(join(root, 'docs/reference/glossary.md'), 'utf8').matchAll(/^\| (.+?) \|/gm)]
      .map(([, term]) => term)
      .filter((term) => term !== 'term')
    assert.ok(terms.length > 100)
    assert.deepEqual(
      terms.filter((term, index) => terms.indexOf(term) !== index),
      [],
    )
  })
})

describe('the page of the configuration', () => {
  const schema = {
    properties: {
      agents: {
        additionalProperties: {
          oneOf: [
            { title: 'demo', properties: { kind: { const: 'demo' }, name: { $ref: '#/$defs/agent/properties/name' } } },
          ],
        },
      },
      limits: {
        type: 'object',
        properties: {
          rate: { type: 'string', description: 'Requests. Default 10/s. Takes effect after a restart.' },
          wait: { type: 'integer', minimum: 1, default: 5, description: 'Seconds. Default 5.' },
        },
        required: ['rate'],
      },
    },
    $defs: { agent: { properties: { name: { type: 'string', description: 'On the card.' } } } },
  }

  it('has the type, default, effect and description of each key', () => {
    const page = configurationPage(schema, { limits: { rate: 'restart', wait: 'live' } })
    assert.match(page, /^\| `limits\.rate` \| string \| \*required\* \| `restart` \| Requests\. \|$/m)
    assert.match(page, /^\| `limits\.wait` \| integer, at least 1 \| `5` \| `live` \| Seconds\. \|$/m)
    assert.match(page, /^\| `name` \| string \| {2}\| `live` \| On the card\. \|$/m)
    assert.match(page, /^### kind: demo$/m)
  })

  it('keeps what a sentence about the default says beyond the value', () => {
    assert.deepEqual(splitDefault({ default: 3, description: 'Tries. Default 3.' }), {
      description: 'Tries.',
      fallback: '`3`',
    })
    assert.deepEqual(splitDefault({ default: 'a', description: 'X. Default: a on Linux.' }), {
      description: 'X. Default: a on Linux.',
      fallback: '`a`',
    })
    assert.deepEqual(splitDefault({ description: 'X. Default: none of them.' }), {
      description: 'X.',
      fallback: 'none of them',
    })
  })
})

describe('a schema in words', () => {
  const document = {
    $defs: { any: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/any' } }] } },
  }
  const resolve = resolverOf(document)

  it('names types as people do', () => {
    assert.equal(typeText({ type: 'string', pattern: '^\\d+(ms|s|m|h|d)$' }, resolve), 'duration')
    assert.equal(
      typeText({ anyOf: [{ const: false }, { type: 'array', items: { format: 'uri', type: 'string' } }] }, resolve),
      '`false` or list of URL',
    )
    assert.equal(typeText({ enum: ['a', '1.0'] }, resolve), '`a`, `"1.0"`')
    assert.equal(typeText({ $ref: '#/$defs/any' }, resolve), 'JSON')
    assert.throws(() => typeText({ $ref: '#/$defs/missing' }, resolve), /has no #\/\$defs\/missing/)
  })

  it('finds the fields of lists, maps and alternatives; one of several alternatives is not required', () => {
    const item = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const other = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }
    const fields = fieldsIn({ type: 'array', items: { anyOf: [item, other] } }, resolve, undefined, 'x')
    assert.deepEqual(
      fields.map(({ path, isRequired }) => [path, isRequired]),
      [
        ['x[].a', false],
        ['x[].b', false],
      ],
    )
    assert.deepEqual(
      fieldsIn({ type: 'object', additionalProperties: item }, resolve, undefined, 'm').map(({ path }) => path),
      ['m.<name>.a'],
    )
  })
})

describe('the other pages', () => {
  it('describe an option at every command that has it', () => {
    const extra = { name: 'extra', short: 'x', takes: '<n>', summary: 'More of it.' }
    const page = cliPage([
      { name: 'a', summary: 'A.', details: ['A note.'], options: [extra] },
      { name: 'b', operands: '<id>', summary: 'B.', options: [extra, { name: 'quiet', summary: 'Less of it.' }] },
    ])
    assert.equal(page.split('| `-x, --extra <n>` | More of it. |').length, 3)
    assert.match(page, /^parley b <id> \[options\]$/m)
    assert.match(page, /^A note\.$/m)
    assert.match(page, /^\| `--quiet` \|/m)
  })

  it('render an operation with its input and its response', () => {
    const page = adminApiPage({
      paths: {
        '/things/{id}': {
          get: {
            operationId: 'getThing',
            summary: 'Shows a thing.',
            tags: ['Things'],
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
            security: [{ adminKey: [] }, { session: [], csrf: [] }],
          },
        },
      },
      components: { schemas: { Thing: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } } },
    })
    assert.match(page, /### getThing\n\n```http\nGET \/things\/\{id\}\n```/)
    assert.match(page, /Access: the admin key or an admin token, a session with its CSRF token\./)
    assert.match(page, /\*\*Response 200:\*\* \[Thing\]\(#thing-schema\)/)
    assert.match(
      page,
      /### Thing \(schema\)\n\n\| Field \| Type \| Description \|\n\|---\|---\|---\|\n\| `a` \| integer \|/,
    )
  })

  it('write text that is no markup', () => {
    assert.equal(text('a <b> {{x}} and `<c>`'), 'a &lt;b> &#123;&#123;x}} and `<c>`')
    assert.equal(table(['A'], [['x | y']]), '| A |\n|---|\n| x \\| y |\n')
  })
})
