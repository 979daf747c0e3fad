import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formFieldsFromSchema, parseForm } from './schema-form.ts'

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where', minLength: 2 },
    maxPrice: { type: 'number', minimum: 10 },
    people: { type: 'integer', default: 2, maximum: 8 },
    smoking: { type: 'boolean' },
    table: { type: 'string', enum: ['inside', 'outside'] },
    seat: {
      oneOf: [
        { const: 1, title: 'Window' },
        { const: 2, title: 'Door' },
      ],
    },
    extras: { type: 'array', items: { type: 'string', enum: ['bread', 'wine'] }, minItems: 1 },
    mail: { type: 'string', format: 'email' },
    day: { type: 'string', format: 'date' },
    pin: { type: 'string', format: 'password' },
    token: { type: 'string', writeOnly: true },
    notes: { type: 'string', maxLength: 2_000 },
    more: { type: 'object' },
    name: { type: ['string', 'null'] },
  },
  required: ['city', 'table'],
}

describe('a form from a schema', () => {
  const fields = formFieldsFromSchema(schema, { city: 'Rome' }) ?? []
  const of = (name: string) => fields.find((field) => field.name === name)

  it('has a field of the matching kind for each property', () => {
    assert.deepEqual(
      fields.map(({ name, kind, type }) => `${name} ${kind} ${type}`),
      [
        'city text text',
        'maxPrice number number',
        'people number number',
        'smoking yes text',
        'table choice text',
        'seat choice text',
        'extras choices text',
        'mail text email',
        'day text date',
        'pin text text',
        'token text text',
        'notes long text',
        'more json text',
        'name text text',
      ],
    )
    assert.deepEqual([of('city')?.label, of('city')?.hint, of('city')?.isRequired], ['City', 'Where', true])
    assert.equal(of('maxPrice')?.label, 'Max price')
    assert.deepEqual(
      fields.filter(({ isSecret }) => isSecret).map(({ name }) => name),
      ['pin', 'token'],
    )
  })

  it('starts with the known values', () => {
    assert.deepEqual([of('city')?.initial, of('people')?.initial], ['Rome', '2'])
  })

  it('is parsed as the requested data, without empty optional fields', () => {
    const filled = {
      city: 'Oslo',
      maxPrice: '12.5',
      people: '3',
      table: 'outside',
      seat: '2',
      extras: ['wine'],
      more: '{"a":1}',
    }
    assert.deepEqual(parseForm(fields, filled), {
      data: {
        city: 'Oslo',
        maxPrice: 12.5,
        people: 3,
        smoking: false,
        table: 'outside',
        seat: 2,
        extras: ['wine'],
        more: { a: 1 },
      },
    })
  })

  it('has the errors of each field', () => {
    const filled = { city: 'O', maxPrice: '5', people: '2.5', smoking: 'true', more: '{' }
    assert.deepEqual(parseForm(fields, filled), {
      mistakes: {
        city: 'Enter at least 2 characters.',
        maxPrice: 'Must be at least 10.',
        people: 'Enter a whole number.',
        table: 'Required.',
        more: 'Not valid JSON.',
      },
    })
  })

  it('sends no list for an untouched multiple choice, and an empty one if a preselection was removed', () => {
    const choice = { type: 'array', items: { enum: ['bread', 'wine'] } }
    const read = (about: object, isRequired: boolean, chosen: readonly string[] = []) => {
      const fields = formFieldsFromSchema({
        properties: { a: { ...choice, ...about } },
        required: isRequired ? ['a'] : [],
      })
      return parseForm(fields ?? [], { a: chosen })
    }
    assert.deepEqual(read({}, false), { data: {} })
    assert.deepEqual(read({ minItems: 2 }, false), { data: {} })
    assert.deepEqual(read({ minItems: 2 }, false, ['wine']), { mistakes: { a: 'Choose at least 2.' } })
    assert.deepEqual(read({}, true), { mistakes: { a: 'Choose at least one.' } })
    assert.deepEqual(read({ default: ['wine'] }, false), { data: { a: [] } })
  })

  it('is undefined without a schema of an object', () => {
    for (const other of [
      undefined,
      null,
      'x',
      [],
      { type: 'string' },
      { type: 'object', properties: {} },
      { properties: { a: 1 } },
    ])
      assert.equal(formFieldsFromSchema(other as never), undefined)
  })
})
