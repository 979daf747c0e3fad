import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { ConfigSchema } from '../../../components/editor/config-schema.ts'
import { canEdit, cardSettings, settingFields } from './setting-fields.ts'
import { formatQuantity, parseQuantity, settingAt, withSetting } from './setting-values.ts'

const file = new URL('../../../../../hub/parley.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(file, 'utf8')) as ConfigSchema

const field = (kind: string, name: string, entry = {}) =>
  settingFields(schema, kind, { kind, ...entry }).find((one) => one.name === name)
const control = (kind: string, name: string) => field(kind, name)?.control

describe('the form of an agent kind', () => {
  it('tells the settings that the card shows from the others', () => {
    const onCard = cardSettings(schema)
    const names = ['name', 'provider', 'iconUrl', 'skills', 'inputModes', 'persona', 'card', 'limits', 'timeout']
    assert.deepEqual(
      names.filter((name) => !onCard.has(name)),
      ['limits', 'timeout'],
    )
  })

  it('has a control for each kind of setting', () => {
    assert.deepEqual(control('openai', 'model'), { type: 'text', isLong: false, isUrl: false })
    assert.deepEqual(control('openai', 'baseUrl'), { type: 'text', isLong: false, isUrl: true })
    assert.deepEqual(control('openai', 'apiKey'), { type: 'secret' })
    assert.deepEqual(control('openai', 'retryWait'), { type: 'unit', unit: 'duration', hasNone: false })
    assert.deepEqual(control('openai', 'answerLimit'), { type: 'unit', unit: 'size', hasNone: false })
    assert.deepEqual(control('openai', 'stream'), { type: 'choice', options: ['auto', true, false] })
    assert.deepEqual(control('openai', 'inputs'), { type: 'choices', options: ['image', 'audio', 'file'] })
    assert.deepEqual(control('openai', 'headers'), { type: 'map', isSecret: true, hasOnlyText: true })
    assert.deepEqual(control('openai', 'options'), { type: 'map', isSecret: false, hasOnlyText: false })
    assert.deepEqual(control('openai', 'retries'), { type: 'number', isInteger: true, min: 0, max: undefined })
    assert.deepEqual(control('command', 'command'), { type: 'list', isCommand: true })
    assert.deepEqual(control('acp', 'files'), { type: 'boolean' })
    assert.deepEqual(control('a2a', 'timeout'), { type: 'unit', unit: 'duration', hasNone: true })
    assert.equal(control('loop', 'tools')?.type, 'complex')
    assert.equal(control('demo', 'skills')?.type, 'complex')
  })

  it('has nested groups, required settings and those of all kinds', () => {
    const limits = control('demo', 'limits')
    assert.ok(limits?.type === 'group')
    assert.deepEqual(limits.fields.find(({ name }) => name === 'rate')?.path, ['limits', 'rate'])
    assert.deepEqual([field('openai', 'model')?.isRequired, field('openai', 'model')?.isCommon], [true, false])
    assert.deepEqual([field('openai', 'limits')?.isRequired, field('openai', 'limits')?.isCommon], [false, true])
    assert.equal(field('openai', 'retryWait')?.defaultText, '60s')
  })

  it('leaves values of another form to the text', () => {
    const command = control('command', 'command')
    assert.ok(command !== undefined)
    assert.equal(canEdit(command, ['sh', '-c', 'wc -w']), true)
    assert.equal(canEdit(command, 'wc -w'), false)
    const card = control('demo', 'card')
    assert.ok(card !== undefined)
    assert.equal(canEdit(card, 'private'), true)
    assert.equal(canEdit(card, { visibility: 'private' }), false)
  })
})

describe('the values of an entry', () => {
  it('are set and removed by path, with sections that are empty then', () => {
    const entry = withSetting({ kind: 'demo' }, ['limits', 'rate'], '5/s')
    assert.deepEqual(entry, { kind: 'demo', limits: { rate: '5/s' } })
    assert.equal(settingAt(entry, ['limits', 'rate']), '5/s')
    assert.deepEqual(withSetting(entry, ['limits', 'rate'], undefined), { kind: 'demo' })
  })

  it('have units that can be changed', () => {
    assert.deepEqual(parseQuantity('1.5h', 'duration'), { amount: '1.5', unit: 'h' })
    assert.deepEqual(parseQuantity('60/hour', 'rate'), { amount: '60', unit: '/h' })
    assert.deepEqual(parseQuantity(4096, 'size'), { amount: '4096', unit: 'B' })
    assert.equal(parseQuantity('${env:WAIT}', 'duration'), undefined)
    assert.equal(formatQuantity({ amount: '10', unit: 'MB' }), '10MB')
    assert.equal(formatQuantity({ amount: '', unit: 'MB' }), undefined)
    assert.equal(formatQuantity({ amount: '', unit: 'none' }), 'none')
  })
})
