import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyOf, dryRunIn, hrefOf, mistakeIn, nothing, tryOf } from './dry-run.ts'

describe('a message that nobody sends', () => {
  it('is the same in the address and back', () => {
    const run = { ...nothing, agent: 'desk', text: 'a & b', metadata: '{"a":1}', parts: 'data,image/png' }
    assert.deepEqual(dryRunIn(new URL(hrefOf(run), 'http://hub').searchParams), run)
    assert.equal(hrefOf(nothing), '/routes')
    assert.equal(hrefOf({ ...nothing, agent: 'x' }, { find: 'y' }), '/routes?agent=x&find=y')
  })

  it('is asked about with what was said, and no more', () => {
    assert.deepEqual(bodyOf({ ...nothing, agent: 'desk', text: 'hi' }), { agent: 'desk', text: 'hi' })
    assert.deepEqual(
      bodyOf({
        agent: 'desk',
        text: 'hi',
        skill: ' say ',
        caller: 'ann',
        metadata: '{"a":1}',
        parts: 'data, image/png',
      }),
      {
        agent: 'desk',
        parts: [{ text: 'hi' }, { data: {} }, { raw: '', mediaType: 'image/png' }],
        skill: 'say',
        caller: 'ann',
        metadata: { a: 1 },
      },
    )
    assert.deepEqual(bodyOf({ ...nothing, agent: 'desk', parts: 'file' }), { agent: 'desk', parts: [{ raw: '' }] })
  })

  it('has metadata that are an object, or none', () => {
    assert.equal(mistakeIn(''), undefined)
    assert.equal(mistakeIn('{"a": {"b": 1}}'), undefined)
    assert.match(mistakeIn('[1]') ?? '', /Give an object/)
    assert.match(mistakeIn('{a') ?? '', /no JSON/)
  })

  it('can be made to fit a rule', () => {
    const when = { text: ['invoice', 'bill'], metadata: { vip: [true] }, caller: ['team-*'], parts: ['image/*'] }
    assert.deepEqual(tryOf({ from: ['desk'], when }), {
      agent: 'desk',
      text: 'invoice',
      skill: '',
      caller: 'team-x',
      metadata: '{"vip":true}',
      parts: 'image/png',
    })
    assert.deepEqual(tryOf({ from: ['desk'] }), { ...nothing, agent: 'desk' })
  })
})
