import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Key } from '../api/admin.ts'
import { emptyKeyDraft, sortKeys, isKeyForAgent, toCreateKeyBody, describeScopes } from './key-draft.ts'

describe('a key', () => {
  it('is requested with the filled fields only', () => {
    assert.deepEqual(toCreateKeyBody({ ...emptyKeyDraft, name: ' build ', agents: ['gpt'] }), {
      name: 'build',
      scopes: ['agent:gpt'],
      expiresIn: '90d',
    })
    assert.deepEqual(
      toCreateKeyBody({
        ...emptyKeyDraft,
        name: 'x',
        agents: ['*'],
        operations: ['send', 'read'],
        expires: '',
        rate: '10/s',
        tasksPerDay: '50',
        principal: 'team-a',
        tenant: 't',
        scopes: ' own:a  own:b ',
      }),
      {
        name: 'x',
        scopes: ['agent:*', 'operation:send', 'operation:read', 'own:a', 'own:b'],
        rate: '10/s',
        tasksPerDay: 50,
        principal: 'team-a',
        tenant: 't',
      },
    )
  })

  it('is limited to skills of one agent, and not by operations if all are chosen', () => {
    const draft = {
      ...emptyKeyDraft,
      agents: ['gpt'],
      skills: ['a', 'b'],
      operations: ['send', 'read', 'cancel', 'push'],
    }
    assert.deepEqual(toCreateKeyBody(draft).scopes, ['skill:gpt/a', 'skill:gpt/b'])
    assert.deepEqual(toCreateKeyBody({ ...draft, agents: ['gpt', 'x'] }).scopes, ['agent:gpt', 'agent:x'])
  })

  it('expires at the end of the chosen day', () => {
    const { expiresAt, expiresIn } = toCreateKeyBody({ ...emptyKeyDraft, expires: 'date', until: '2030-01-31' })
    assert.equal(expiresAt, new Date('2030-01-31T23:59:59').toISOString())
    assert.equal(expiresIn, undefined)
    assert.equal(toCreateKeyBody({ ...emptyKeyDraft, expires: 'date' }).expiresAt, undefined)
  })

  it('is for an agent, one of its skills, or all agents', () => {
    for (const scope of ['agent:*', 'agent:gpt', 'skill:gpt/a'])
      assert.ok(isKeyForAgent({ scopes: ['own', scope] }, 'gpt'), scope)
    for (const scope of ['agent:gpt2', 'skill:gpt2/a', 'operation:send'])
      assert.ok(!isKeyForAgent({ scopes: [scope] }, 'gpt'), scope)
  })

  it('has a description of its scopes', () => {
    assert.deepEqual(describeScopes(['agent:*', 'skill:gpt/a', 'operation:send', 'operation:read', 'own:x']), [
      'All agents',
      'gpt/a',
      'own:x',
      'only send, read',
    ])
  })

  it('is listed before invalid ones, newest first', () => {
    const key = (id: string, state: Key['state'], createdAt: string): Key => ({
      id,
      state,
      createdAt,
      prefix: '',
      name: '',
      scopes: [],
      principal: '',
      createdBy: '',
    })
    const listed = sortKeys([
      key('a', 'revoked', '4'),
      key('b', 'active', '1'),
      key('c', 'expired', '5'),
      key('d', 'active', '2'),
    ])
    assert.deepEqual(
      listed.map(({ id }) => id),
      ['d', 'b', 'c', 'a'],
    )
  })
})
