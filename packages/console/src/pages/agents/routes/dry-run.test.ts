import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decideRouteBody, dryRunFromQuery, dryRunHref, metadataError, emptyDryRun, dryRunForRule } from './dry-run.ts'

describe('the message of a dry run', () => {
  it('survives the address', () => {
    const run = { ...emptyDryRun('desk'), text: 'a & b', metadata: '{"a":1}', parts: 'data,image/png' }
    assert.deepEqual(dryRunFromQuery('desk', new URL(dryRunHref(run), 'http://hub').searchParams), run)
    assert.equal(dryRunHref('desk'), '/agents/desk/routes')
    assert.equal(dryRunFromQuery('desk', new URLSearchParams('text=filter')), undefined)
    const empty = emptyDryRun('desk')
    assert.deepEqual(dryRunFromQuery('desk', new URL(dryRunHref(empty), 'http://hub').searchParams), empty)
  })

  it('is sent with the filled fields only', () => {
    assert.deepEqual(decideRouteBody({ ...emptyDryRun('desk'), text: 'hi' }), { agent: 'desk', text: 'hi' })
    assert.deepEqual(
      decideRouteBody({
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
    assert.deepEqual(decideRouteBody({ ...emptyDryRun('desk'), parts: 'file' }), {
      agent: 'desk',
      parts: [{ raw: '' }],
    })
  })

  it('has an object as metadata, or none', () => {
    assert.equal(metadataError(''), undefined)
    assert.equal(metadataError('{"a": {"b": 1}}'), undefined)
    assert.match(metadataError('[1]') ?? '', /Enter an object/)
    assert.match(metadataError('{a') ?? '', /Not valid JSON/)
  })

  it('can be derived from a rule', () => {
    const when = { text: ['invoice', 'bill'], metadata: { vip: [true] }, caller: ['team-*'], parts: ['image/*'] }
    assert.deepEqual(dryRunForRule('desk', { when }), {
      agent: 'desk',
      text: 'invoice',
      skill: '',
      caller: 'team-x',
      metadata: '{"vip":true}',
      parts: 'image/png',
    })
    assert.deepEqual(dryRunForRule('desk', {}), emptyDryRun('desk'))
  })
})
