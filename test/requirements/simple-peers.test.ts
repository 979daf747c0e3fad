/** Peers that serve simple tasks, called by everything that calls agents: the module itself, the client, a hub and its MCP tools. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { connect, invoke } from '@parley/a2a/client'
import { clearTaskStore, invokeRemoteAgent } from '@parley/a2a/simple'
import { call1_0, cardOf } from '../hub/raw-calls.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import { openMcpTestClient, revisions, textOf } from '../mcp/mcp-clients.ts'
import { openSimplePeer } from './simple-peer.ts'

const skills = [{ id: 'echo', name: 'Echo', description: 'Says it again', tags: ['test'] }]
const peers = {
  'whose card the module built': await openSimplePeer(),
  'whose card lists no interface': await openSimplePeer(() => ({ name: 'Old', version: '0.9.0', skills })),
  'whose card has an address at which no A2A is served': await openSimplePeer((url) => ({
    name: 'Old',
    version: '0.9.0',
    url,
    capabilities: { streaming: true },
    skills,
  })),
}
const names = Object.keys(peers) as (keyof typeof peers)[]
const agents = names.map((name, index) => `  peer-${index}: { kind: a2a, url: '${peers[name].url}', pollEvery: 100ms }`)
const folder = await newFolder({
  'parley.yaml': `mcp: { remote: { allow: [127.0.0.1] } }\nagents:\n${agents.join('\n')}\n`,
})
const hub = await startHub(folder, [], { GRPC_PORT: '' })
after(async () => {
  await hub.stop()
  for (const peer of Object.values(peers)) await peer.close()
  clearTaskStore()
})
const limits = { pollMs: 20, firstDelayMs: 5 }

for (const [index, name] of names.entries()) {
  const peer = peers[name]

  describe(`a peer ${name}`, { timeout: 120_000 }, () => {
    it('is called by the module and by the client [S0-11 S0-31]', async () => {
      const { success, responseText } = await invokeRemoteAgent(peer.url, 'hi', { limits })
      assert.deepEqual([success, responseText], [true, 'You said hi'])
      assert.equal((await invoke(peer.url, 'hi', { limits })).responseText, 'You said hi')
      const agent = await connect(peer.url, { limits })
      assert.equal(await agent.ask('hi', { metadata: { skillId: 'echo' } }), 'You said hi')
      assert.equal(await agent.stream('hi').text(), 'You said hi')
      const { id } = await agent.start('wait')
      assert.equal((await agent.get(id)).status.state, 'TASK_STATE_WORKING')
      await assert.rejects(agent.cancel(id), { code: 'UNSUPPORTED_OPERATION' })
      await assert.rejects(agent.ask('and now?', { taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
      await assert.rejects(agent.get('unknown'), { code: 'TASK_NOT_FOUND' })
    })

    it('is an agent of a hub [S0-31]', async () => {
      const url = `${hub.url}/a2a/peer-${index}`
      assert.equal((await cardOf(url)).name, index === 0 ? 'Parley' : 'Old')
      const done = await call1_0(url, 'hello')
      assert.equal(done.json.result.task.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(done.text, 'You said hello')
      const failed = await call1_0(url, 'fail')
      assert.equal(failed.json.result.task.status.state, 'TASK_STATE_FAILED')
      assert.equal(failed.text, 'It broke')
      assert.ok(peer.bodies.every((body) => typeof (body as { message: unknown }).message === 'string'))
    })

    it('is called by the MCP tool invoke_remote_agent [S0-11 S0-31]', async () => {
      const caller = await openMcpTestClient(revisions[0] as '2025-11-25', { url: `${hub.url}/mcp` })
      const found = await caller.call('discover_agent', { url: peer.url })
      assert.equal(found.structuredContent.title, index === 0 ? 'Parley' : 'Old')
      const said = await caller.call('invoke_remote_agent', { url: peer.url, message: 'hello', skill: 'echo' })
      assert.equal(textOf(said), 'You said hello')
      assert.equal(said.structuredContent.state, 'completed')
      assert.equal((peer.bodies.at(-1) as { skill?: string }).skill, 'echo')
      const failed = await caller.call('invoke_remote_agent', { url: peer.url, message: 'fail' })
      assert.deepEqual([failed.isError, textOf(failed)], [true, 'It broke'])
    })
  })
}
