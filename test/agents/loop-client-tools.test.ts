import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { clientToolsExtension as uri } from '@parley/a2a'
import type { Struct, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { createHandler } from '@parley/a2a/server'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { scriptCallingOnce, createLoopFixture, toolResultsIn } from './loop-fixture.ts'
import type { LoopFixture } from './loop-fixture.ts'

const positionTool = {
  name: 'position',
  description: 'Where the person is',
  inputSchema: { type: 'object', properties: { exact: { type: 'boolean' } } },
}
const listing = { metadata: { [uri]: { tools: [positionTool] } } }
const ask = { parts: [{ text: 'Where am I?' }], ...listing }
const resultOf = (toolUseId: string, result: unknown, more: Struct = {}) => ({
  data: { toolUseId, result } as Struct,
  metadata: { [uri]: { type: 'tool-result', ...more } },
})

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-client-tools-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function talkTo(t: TestContext, fixture: LoopFixture, version: '1.0' | '0.3' | '0.2') {
  const { agent, extensions = [] } = await fixture.open()
  const handler = createHandler({ agent, name: 'Loop', extensions, store: sqliteStore(join(folderOf(t), 'x.db')) })
  t.after(() => handler.close())
  return connect('http://agent.test', { fetch: (request) => handler.fetch(request), version })
}

describe('tools of the client', () => {
  for (const version of ['1.0', '0.3', '0.2'] as const)
    it(`run at the client when the model calls them, in ${version} [S2-13 S2-14]`, async (t) => {
      const script = scriptCallingOnce(
        { name: 'position', input: { exact: true }, id: 'c1' },
        { name: 'wallet', id: 'c2' },
      )
      const fixture = await createLoopFixture(t, script, [{ client: true }])
      const remote = await talkTo(t, fixture, version)
      const inputs: unknown[] = []
      const chat = remote.chat({
        tools: {
          position: {
            description: 'Where the person is',
            inputSchema: positionTool.inputSchema,
            run(input) {
              inputs.push(input)
              return { city: 'Lisbon' }
            },
          },
          wallet() {
            throw new Error('it is empty')
          },
        },
      })
      const answer = await chat.ask('Where am I?')
      assert.deepEqual(inputs, [{ exact: true }])
      assert.match(answer, /^\{"city":"Lisbon"\} \| The tool failed: .*it is empty/)
      assert.deepEqual(
        (await fixture.model.request(1)).body.tools?.map(({ function: { name, description } }) => [name, description]),
        [
          ['position', 'Where the person is'],
          ['wallet', 'Wallet'],
        ],
      )
      assert.equal(chat.tasks.size, 1)
    })

  it('are declared on the card only of agents that may call them', async (t) => {
    const without = await createLoopFixture(t, scriptCallingOnce(), [])
    assert.equal((await without.open()).extensions, undefined)
    const remote = await talkTo(t, await createLoopFixture(t, scriptCallingOnce(), [{ client: true }]), '1.0')
    assert.ok(remote.card.capabilities.extensions?.some((extension) => extension.uri === uri))
  })

  it('are offered only if the client has them and the operator allows them [S0-28]', async (t) => {
    const fixture = await createLoopFixture(t, () => ({ say: 'ok' }), [{ client: { allow: ['pos*'] } }])
    const agent = await fixture.agent()
    await agent.send('hi')
    assert.equal((await fixture.model.request(1)).body.tools, undefined)
    await agent.send({ ...ask, metadata: { [uri]: { tools: [positionTool, { name: 'camera' }, { name: 7 }, 'x'] } } })
    assert.deepEqual(
      (await fixture.model.request(2)).body.tools?.map(({ function: { name } }) => name),
      ['position'],
    )
  })

  it('become a question that any client understands, and survive a restart', async (t) => {
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'position', id: 'c1' }), [{ client: true }])
    const file = join(folderOf(t), 'x.db')
    const first = await fixture.agent({ store: sqliteStore(file) })
    const asked = (await first.send(ask)) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(asked.status.message?.parts, [
      { text: 'The client must run: Position' },
      { data: { toolUseId: 'c1', name: 'position', input: {} }, metadata: { [uri]: { type: 'tool-use' } } },
    ])
    await first.close()
    const second = await fixture.agent({ store: sqliteStore(file) })
    const task = (await second.send([resultOf('c1', 'Lisbon')], { taskId: asked.id })) as Task
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(toolResultsIn((await fixture.model.request(2)).body), ['Lisbon'])
    // The answer need not list the tools again.
    assert.equal((await fixture.model.request(2)).body.tools?.length, 1)
  })

  it('may return secrets, which reach the model and are not stored', async (t) => {
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'position', id: 'c1' }), [{ client: true }])
    const folder = folderOf(t)
    const agent = await fixture.agent({ store: sqliteStore(join(folder, 'x.db')) })
    const asked = (await agent.send(ask)) as Task
    fixture.model.script = () => ({ say: 'Thank you' })
    await agent.send([resultOf('c1', 'hunter2', { sensitive: true })], { taskId: asked.id })
    assert.deepEqual(toolResultsIn((await fixture.model.request(2)).body), ['hunter2'])
    await agent.close()
    for (const name of readdirSync(folder)) assert.ok(!readFileSync(join(folder, name)).includes('hunter2'), name)
  })

  it('may stay unanswered while the user continues the conversation', async (t) => {
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'position', id: 'c1' }), [{ client: true }])
    const agent = await fixture.agent()
    const asked = (await agent.send(ask)) as Task
    await agent.send('Never mind, I am in Lisbon', { taskId: asked.id })
    const { messages } = (await fixture.model.request(2)).body
    assert.deepEqual(
      messages.slice(-2).map(({ role, content }) => [role, content]),
      [
        ['tool', 'The client has not run this tool.'],
        ['user', 'Never mind, I am in Lisbon'],
      ],
    )
  })

  it('are reported to the model if the client does not run them in time', async (t) => {
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'position', id: 'c1' }), [{ client: true }])
    const agent = await fixture.agent({ inputTimeout: { afterMs: 50, then: 'continue' } })
    const asked = (await agent.send(ask)) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const { body } = await fixture.model.request(2)
    assert.deepEqual(toolResultsIn(body), ['The client did not answer in time.'])
  })
})
