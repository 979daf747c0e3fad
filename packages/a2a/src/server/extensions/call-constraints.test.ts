/**
 * Constraints that an extension sets for a call: a shorter deadline, fewer permissions, and provenance; never from the payload
 * alone.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { inputRequired } from '../../agents/reports.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { Json } from '../../model/task.ts'
import { testMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import type { CallConstraints, Extension } from '../index.ts'

const { open, post } = openServers()
/** Scopes of callers are those that `authenticate` gives them. */
const authenticate = (): Caller => ({ id: 'ann', scopes: ['read', 'write'], skills: ['look', 'draw'] })
const uri = 'urn:terms'
const asking = { 'a2a-extensions': uri, 'a2a-version': '1.0' }

/** Reports its input in the message of the waiting task. */
const telling: Agent = ({ message, caller, task, provenance }) => {
  const { deadlineAt } = task
  return inputRequired(JSON.stringify({ metadata: message.metadata, scopes: caller.scopes, deadlineAt, provenance }))
}

function terms(answer: (said: Json) => CallConstraints | undefined): Extension {
  return { uri, onCall: (said) => answer(said) }
}

function send(handler: ReturnType<typeof open>, more: object, headers: Record<string, string> = asking) {
  const params = { message: { ...testMessage('go'), ...more } }
  return post(handler, rpc('SendMessage', params), headers)
}

const seen = (json: any): Record<string, unknown> =>
  JSON.parse(json.result.task.status.message.parts[0].text) as Record<string, unknown>

describe('the constraints of a call', () => {
  it('are set by an active extension, from its data in the message', async () => {
    const deadlineAt = Date.now() + 60_000
    const received: Json[] = []
    const extension = terms((said) => {
      received.push(said)
      return { deadlineAt, scopes: ['read'], provenance: { from: 'afar' } }
    })
    const handler = open({
      agent: telling,
      extensions: [extension],
      authenticate: () => ({ id: 'ann', scopes: ['read', 'write'] }),
    })
    const { json } = await send(handler, { metadata: { [uri]: { n: 1 }, other: 2 } })
    assert.deepEqual(seen(json), { metadata: { other: 2 }, scopes: ['read'], deadlineAt, provenance: { from: 'afar' } })
    assert.deepEqual(received, [{ n: 1 }])
  })

  it('only narrow: no scope or skill is added to those of the caller, by one extension or by several', async () => {
    const limits: CallConstraints[] = [{ scopes: ['read', 'pay'] }, { skills: ['look', 'fly'] }, { scopes: ['pay'] }]
    const extensions = limits.map((limit, index) => ({ uri: `${uri}:${index}`, onCall: () => limit }))
    const callers: Caller[] = []
    const agent: Agent = ({ caller }) => {
      callers.push(caller)
      return 'ok'
    }
    const handler = open({ agent, extensions, authenticate })
    const sendWith = (...uris: string[]) => {
      const metadata = { skillId: 'look', ...Object.fromEntries(uris.map((one) => [one, 1])) }
      return send(handler, { metadata }, { 'a2a-version': '1.0', 'a2a-extensions': uris.join(',') })
    }
    await sendWith(`${uri}:0`, `${uri}:1`)
    await sendWith(`${uri}:0`, `${uri}:2`)
    assert.deepEqual(
      callers.map(({ scopes, skills }) => [scopes, skills]),
      [
        [['read'], ['look']],
        [[], ['look', 'draw']],
      ],
    )
  })

  it('give no scopes to a caller that has none, and compare scopes as the operator configures', async () => {
    const extension = terms(() => ({ scopes: ['read:mail'] }))
    const message = { metadata: { [uri]: 'x' } }
    const without = open({ agent: telling, extensions: [extension] })
    assert.equal(seen((await send(without, message)).json)['scopes'], undefined)
    const handler = open({
      agent: telling,
      extensions: [extension],
      authenticate: () => ({ id: 'ann', scopes: ['read:*'] }),
      intersectScopes: (held, limit) => limit.filter((scope) => held.includes(`${scope.split(':')[0]}:*`)),
    })
    assert.deepEqual(seen((await send(handler, message)).json)['scopes'], ['read:mail'])
  })

  it('are not requested from a client without the extension, or without its data', async () => {
    const handler = open({ agent: telling, extensions: [terms(() => assert.fail('it was asked'))] })
    const { json: inactive } = await send(handler, { metadata: { [uri]: 'x' } }, { 'a2a-version': '1.0' })
    assert.deepEqual(seen(inactive), { metadata: { [uri]: 'x' } })
    const { json: silent } = await send(handler, { metadata: { other: 1 } })
    assert.deepEqual(seen(silent), { metadata: { other: 1 } })
  })

  it('do not make a repeated message another one', async () => {
    const handler = open({ agent: telling, extensions: [terms(() => ({}))] })
    const message = { messageId: crypto.randomUUID(), metadata: { [uri]: 'one' } }
    const first = await send(handler, message)
    const second = await send(handler, { ...message, metadata: { [uri]: 'two' } })
    assert.equal(second.json.result.task.id, first.json.result.task.id)
    const other = await send(handler, { ...message, metadata: { [uri]: 'two', more: 1 } })
    assert.notEqual(other.json.result.task.id, first.json.result.task.id)
  })

  it('may be refused: an error is the response to the call', async () => {
    const extension = terms(() => {
      throw new A2AError('PERMISSION_DENIED', 'Not by this way')
    })
    const handler = open({ agent: telling, extensions: [extension] })
    const { json } = await send(handler, { metadata: { [uri]: 'x' } })
    assert.deepEqual([json.error.code, json.error.message], [-32091, 'Not by this way'])
  })

  it('apply to the rest of the task: provenance is kept for the next message', async () => {
    const extension = terms(() => ({ provenance: { from: 'afar' }, deadlineAt: Date.now() + 60_000 }))
    const handler = open({ agent: telling, extensions: [extension] })
    const { json } = await send(handler, { metadata: { [uri]: 'x' } })
    const { json: next } = await send(handler, { taskId: json.result.task.id }, { 'a2a-version': '1.0' })
    assert.deepEqual(seen(next)['provenance'], { from: 'afar' })
    assert.equal(seen(next)['deadlineAt'], seen(json)['deadlineAt'])
  })
})
