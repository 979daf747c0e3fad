import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../../api/admin.ts'
import { agentFilters, agentKinds, agentTags, matchesAgentFilters } from './agent-filters.ts'
import { agentStatus, agentLastError, loadText, needsAttention, signatureStatus } from '../../../agent/agent-status.ts'

const talker: Agent = {
  name: 'talker',
  title: 'Talker',
  description: 'Says what you say',
  kind: 'module',
  state: 'open',
  status: { state: 'up' },
  health: { state: 'up', breaker: 'closed' },
  version: '1.0.0',
  url: 'http://hub/a2a/talker',
  card: 'http://hub/a2a/talker/card',
  tags: ['demo', 'talk'],
  skills: [{ id: 'sing', name: 'Sing', description: 'Sings a song', tags: ['talk'] }],
  isDefault: false,
  isOpen: true,
  isCardPrivate: false,
  whenBusy: 'queue',
  load: { working: 0, waiting: 0, streams: 0 },
  usage: { calls: 0, errors: 0 },
  endedTasks: { ended: 0, failed: 0 },
}
const filter = (search: string) => agentFilters.read(new URLSearchParams(search))

describe('the filtered agents', () => {
  it('contain every word in their description', () => {
    for (const text of ['', 'TALK', 'song sing', 'module', 'says demo']) {
      assert.ok(matchesAgentFilters(talker, filter(`text=${text}`)), text)
    }
    assert.ok(!matchesAgentFilters(talker, filter('text=talk+nothing')))
  })

  it('have the requested kind, tag and health', () => {
    assert.ok(matchesAgentFilters(talker, filter('kind=module&tag=demo&health=up')))
    for (const other of ['kind=a2a', 'tag=music', 'health=down', 'health=care'])
      assert.ok(!matchesAgentFilters(talker, filter(other)), other)
    const blocked: Agent = { ...talker, status: { state: 'blocked', reason: 'its card has changed' } }
    assert.ok(matchesAgentFilters(blocked, filter('health=down')))
    assert.ok(matchesAgentFilters(blocked, filter('health=care')))
    const failing: Agent = { ...talker, status: { state: 'failing', reason: '6 of 9 tasks failed' } }
    assert.ok(matchesAgentFilters(failing, filter('health=failing')))
    assert.ok(!matchesAgentFilters(failing, filter('health=up')))
  })

  it('are all without a filter', () => {
    assert.ok(!agentFilters.isSet(filter('')))
    assert.ok(agentFilters.isSet(filter('tag=demo')))
    const other: Agent = { ...talker, kind: 'a2a', tags: ['art'] }
    assert.deepEqual(
      [agentKinds([talker, other, talker]), agentTags([talker, other])],
      [
        ['a2a', 'module'],
        ['art', 'demo', 'talk'],
      ],
    )
  })
})

describe('the status of an agent', () => {
  it('has the reason that the hub gives, in every state', () => {
    for (const state of ['up', 'slow', 'failing', 'down', 'blocked', 'unavailable'] as const) {
      const { word, why } = agentStatus({ status: { state, reason: `it is ${state}` } })
      assert.deepEqual([word, why], [state, `it is ${state}`])
    }
  })

  it('has the error that prevents messages, otherwise the last failed task', () => {
    const lastError = { taskId: 't', at: '2030-01-31T11:00:00.000Z', text: 'no' }
    const startError = { message: 'there is no file', at: '2030-01-31T12:00:00.000Z' }
    const errorOf = (more: Partial<Agent>) => agentLastError({ ...talker, ...more })
    assert.equal(errorOf({}), undefined)
    assert.deepEqual(errorOf({ lastError }), lastError)
    assert.equal(
      errorOf({ lastError: { ...lastError, cause: '401: Incorrect API key' } })?.text,
      '401: Incorrect API key',
    )
    const unavailable = { state: 'unavailable', reason: 'there is no file' } as const
    assert.deepEqual(errorOf({ lastError, status: unavailable, startError }), {
      text: 'there is no file',
      at: startError.at,
      taskId: undefined,
    })
    assert.equal(errorOf({ lastError, status: { state: 'down', reason: 'refused' } })?.text, 'refused')
  })

  it('needs attention if the hub gives a reason', () => {
    assert.ok(!needsAttention(talker))
    assert.ok(needsAttention({ status: { state: 'up', reason: 'its card has changed' } }))
    assert.ok(needsAttention({ status: { state: 'failing', reason: '6 of 9 tasks failed' } }))
  })

  it('includes its current load', () => {
    assert.equal(loadText(talker.load), 'idle')
    assert.equal(loadText({ working: 1_200, waiting: 1, streams: 1 }), '1,200 working · 1 waiting · 1 stream')
  })

  it('includes the result of the signature check', () => {
    const words = (['verified', 'unverified', 'unsigned', 'unchecked'] as const).map(
      (status) => signatureStatus({ status }).word,
    )
    assert.deepEqual(words, ['Verified', 'Not verified', 'Unsigned', 'Not checked'])
    assert.equal(signatureStatus(undefined).word, 'Not checked')
    assert.equal(signatureStatus({ status: 'verified', kid: 'k1', alg: 'ES256' }).why, 'Signed with k1 (ES256).')
  })
})
