import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commonSettingNames, buildEntry, entryFieldsFromSchema } from './entry-form.ts'
import type { AgentKind, EntrySchema } from './entry-form.ts'

const common = { name: { type: 'string' }, skills: { type: 'array', items: { type: 'object' }, default: [] } }
const schema: EntrySchema = {
  properties: {
    kind: { const: 'openai' },
    retries: { type: 'integer', default: 3 },
    baseUrl: { type: 'string', description: 'Where it is' },
    apiKey: { type: 'string', writeOnly: true },
    stream: { anyOf: [{ const: 'auto' }, { type: 'boolean' }], default: 'auto' },
    answerLimit: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    inputs: { type: 'array', items: { type: 'string' } },
    structured: { type: 'string', enum: ['a', 'b'] },
    allow: { type: 'boolean', default: false },
    system: { type: 'string' },
    ...common,
  },
  required: ['kind', 'baseUrl'],
}
const kinds: readonly AgentKind[] = [
  { kind: 'openai', schemas: [schema] },
  {
    kind: 'command',
    schemas: [{ properties: { kind: {}, command: { type: 'array', items: { type: 'string' } }, ...common } }],
  },
]
const fields = entryFieldsFromSchema(schema, commonSettingNames(kinds))

describe('the form of a kind', () => {
  it('has the required fields first, then its own, then those of the card', () => {
    assert.deepEqual(
      fields.map(({ name, group }) => `${name} ${group}`),
      [
        'baseUrl needed',
        'retries own',
        'apiKey own',
        'stream own',
        'answerLimit own',
        'inputs own',
        'structured own',
        'allow own',
        'system own',
        'name card',
        'skills card',
      ],
    )
  })

  it('has a field of the matching shape for each setting', () => {
    const shapes = Object.fromEntries(fields.map(({ name, shape }) => [name, shape]))
    assert.deepEqual(shapes, {
      baseUrl: 'text',
      retries: 'number',
      apiKey: 'secret',
      stream: 'any',
      answerLimit: 'any',
      inputs: 'lines',
      structured: 'choice',
      allow: 'switch',
      system: 'long',
      name: 'text',
      skills: 'json',
    })
    const command: EntrySchema = {
      properties: { command: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] } },
    }
    assert.equal(entryFieldsFromSchema(command, new Set())[0]?.shape, 'command')
    assert.deepEqual(fields.find(({ name }) => name === 'retries')?.defaultText, '3')
  })

  it('builds an entry from the filled fields', () => {
    const filled = buildEntry('openai', fields, {
      baseUrl: ' https://x ',
      retries: '5',
      stream: 'true',
      answerLimit: '5MB',
      inputs: 'image\n\n audio ',
      allow: 'false',
      skills: '[{"name":"a"}]',
      system: 'two\nlines ',
      apiKey: '',
      name: '  ',
    })
    assert.deepEqual(filled, {
      entry: {
        kind: 'openai',
        baseUrl: 'https://x',
        retries: 5,
        stream: true,
        answerLimit: '5MB',
        inputs: ['image', 'audio'],
        allow: false,
        skills: [{ name: 'a' }],
        system: 'two\nlines ',
      },
    })
    assert.deepEqual(buildEntry('x', fields, { baseUrl: 'x', stream: 'auto', answerLimit: '17' }), {
      entry: { kind: 'x', baseUrl: 'x', stream: 'auto', answerLimit: 17 },
    })
  })

  it('reports missing and invalid fields', () => {
    const filled = buildEntry('openai', fields, { retries: 'many', skills: '[{', stream: '{' })
    assert.deepEqual(filled, {
      mistakes: [
        { field: 'baseUrl', text: 'is required' },
        { field: 'retries', text: 'must be a number' },
        { field: 'stream', text: 'is not valid JSON' },
        { field: 'skills', text: 'is not valid JSON' },
      ],
    })
  })
})
