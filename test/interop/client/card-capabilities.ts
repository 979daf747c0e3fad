/** Declared and undeclared capabilities, the headers of every request, and errors. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { agentName, extendedDescription, mood } from './peer.ts'
import { rejectsWith, taskOf } from './connected-peer.ts'
import type { ConnectedPeer } from './connected-peer.ts'

export function cardCapabilities(scene: ConnectedPeer): void {
  const { version, binding, absent, missingCapabilities, knownDefects = {} } = scene.kind

  it('reads the card, and selects the right interface [B-17 B-18 B-28]', () => {
    assert.equal(scene.agent.card.name, agentName)
    assert.equal(scene.agent.card.skills[0]?.id, 'act')
    assert.deepEqual([scene.agent.interface.version, scene.agent.interface.protocolBinding], [version, binding])
    assert.ok(scene.agent.interface.why.length > 0)
  })

  it(`does not use ${absent} if it is pinned and not offered [B-9]`, async () => {
    const before = scene.requests.length
    await rejectsWith('VERSION_NOT_SUPPORTED', scene.connect({ version: absent }))
    assert.ok(scene.requests.slice(before).every(({ method }) => method === 'GET'))
  })

  if (missingCapabilities.includes('push')) {
    it('knows without a request that the agent does not push [B-169]', async () => {
      const code = 'PUSH_NOTIFICATION_NOT_SUPPORTED'
      await scene.refusesUnasked(code, () => scene.agent.push.set('any', { url: 'https://example.com/hook' }))
      await scene.refusesUnasked(code, () => scene.agent.push.get('any', 'hook'))
      await scene.refusesUnasked(code, () => scene.agent.push.list('any'))
      await scene.refusesUnasked(code, () => scene.agent.push.delete('any', 'hook'))
      const push = { url: 'https://example.com/hook' }
      await scene.refusesUnasked(code, () => scene.agent.send('say hi', { push }))
    })
  } else {
    const cannotSet = knownDefects['set push configs'] ?? false
    it('sets a push config and reads it back', { skip: cannotSet }, async () => {
      const { id } = taskOf(await scene.agent.send('say hooked'))
      const set = await scene.agent.push.set(id, { id: 'hook', url: 'https://example.com/hook', token: 'secret' })
      assert.deepEqual([set.taskId, set.url], [id, 'https://example.com/hook'])
      assert.equal((await scene.agent.push.get(id, 'hook')).url, 'https://example.com/hook')
    })

    const cannotList = knownDefects['list push configs'] ?? cannotSet
    it('lists push configs and deletes one', { skip: cannotList }, async () => {
      const { id } = taskOf(await scene.agent.send('say hooked'))
      for (const name of ['one', 'two'])
        await scene.agent.push.set(id, { id: name, url: `https://example.com/${name}` })
      const { configs } = await scene.agent.push.list(id)
      assert.deepEqual(new Set(configs.map((config) => config.id)), new Set(['one', 'two']))
      await scene.agent.push.delete(id, 'one')
      assert.deepEqual(
        (await scene.agent.push.list(id)).configs.map((config) => config.url),
        ['https://example.com/two'],
      )
    })
  }

  if (missingCapabilities.includes('extendedCard')) {
    it('knows without a request that there is no extended card [B-169]', () =>
      scene.refusesUnasked('UNSUPPORTED_OPERATION', () => scene.agent.extendedCard()))
  } else {
    it('uses the extended card from then on [B-139]', async () => {
      const other = await scene.connect()
      const before = other.card.description
      const card = await other.extendedCard()
      assert.equal(card.description, extendedDescription)
      assert.notEqual(before, extendedDescription)
      assert.equal(other.card.description, extendedDescription)
      assert.equal(await other.ask('say still there'), 'still there ')
    })
  }

  it('gets the same errors from all servers', async () => {
    await rejectsWith('TASK_NOT_FOUND', scene.agent.get('nowhere'))
    await rejectsWith('TASK_NOT_FOUND', scene.agent.cancel('nowhere'))
    await rejectsWith('TASK_NOT_FOUND', scene.agent.subscribe('nowhere').all())
    await rejectsWith('TASK_NOT_FOUND', scene.agent.wait('nowhere'))
    await rejectsWith('TASK_NOT_FOUND', scene.agent.send('more', { taskId: 'nowhere' }))
    const { id } = taskOf(await scene.agent.send('say done'))
    await rejectsWith('TASK_NOT_CANCELABLE', scene.agent.cancel(id))
  })

  it('gets an error for a message to a finished task', async () => {
    const { id } = taskOf(await scene.agent.send('say done'))
    const error = await rejectsWith(undefined, scene.agent.send('more', { taskId: id }))
    assert.match(error.code, /^(UNSUPPORTED_OPERATION|INVALID_PARAMS|INVALID_REQUEST)$/)
  })

  it('gets the name of an invalid parameter', async () => {
    const message = { messageId: '', role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const
    const error = await rejectsWith('INVALID_PARAMS', scene.agent.session.call('SendMessage', { message }))
    assert.match(error.message, /message/i)
  })

  const unseen =
    binding === 'GRPC' ? 'what goes by gRPC does not go by fetch: the tests of the binding look at it' : false
  it(
    'sends the version, the trace and the requested extensions in every request [B-1 B-142 B-171]',
    { skip: unseen },
    async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      const traced = await scene.connect({ trace: () => ({ traceparent }), extensions: [mood] })
      const before = scene.requests.length
      const { id } = taskOf(await traced.send('say hi'))
      await traced.get(id)
      await traced.stream('say hi').all()
      const sent = scene.requests.slice(before).map(({ headers }) => headers)
      assert.ok(sent.length >= 3)
      for (const headers of sent) {
        assert.equal(headers.get('a2a-version'), version)
        assert.equal(headers.get('traceparent'), traceparent)
        assert.equal(headers.get(version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'), mood)
      }
    },
  )
}
