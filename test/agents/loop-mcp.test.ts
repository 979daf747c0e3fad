import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { StreamEvent, Struct, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { Script } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { scriptCallingOnce, createLoopFixture, toolResultsIn } from './loop-fixture.ts'

const everything = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const server = (more: object = {}) => ({ mcp: { command: [process.execPath, everything], ...more } })
const { signal } = new AbortController()

/** What observers see of calls: their state and text. */
const callsIn = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => {
    const call = 'statusUpdate' in event ? event.statusUpdate.metadata?.['toolCall'] : undefined
    if (call === undefined || !('statusUpdate' in event)) return []
    return [{ outcome: (call as Struct)['outcome'], said: event.statusUpdate.status.message?.parts }]
  })

describe('tools of an MCP server in the loop', () => {
  it('are skills of the card, with readable names and tags, if they are allowed [S0-26 S0-28]', async (t) => {
    const all = await createLoopFixture(t, scriptCallingOnce(), [
      server(),
      { module: './loop-tools.ts' },
      { agent: 'travel' },
      { client: true },
    ])
    const opened = await all.open()
    t.after(() => opened.close?.())
    const skills = (await opened.fetchCard?.(signal))?.skills ?? []
    const sum = skills.find(({ id }) => id === 'get-sum')
    assert.deepEqual([sum?.name, sum?.tags], ['Get Sum Tool', ['tool', 'mcp', 'compute']])
    assert.ok(skills.length > 10)
    assert.deepEqual(
      skills.slice(-3).map(({ name }) => name),
      ['Note', 'Wait for gate', 'Ask Travel'],
    )
    const few = await (await createLoopFixture(t, scriptCallingOnce(), [server({ allow: ['get-s*', 'echo'] })])).open()
    t.after(() => few.close?.())
    assert.deepEqual(
      (await few.fetchCard?.(signal))?.skills?.map(({ id }) => id),
      ['echo', 'get-structured-content', 'get-sum'],
    )
  })

  it('stay available to the card and the model when another server is down', async (t) => {
    const down = { mcp: { command: ['/nowhere/server'] } }
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'echo', input: { message: 'hi' } }), [
      down,
      server({ allow: ['echo'] }),
    ])
    const opened = await fixture.open()
    t.after(() => opened.close?.())
    assert.deepEqual(
      (await opened.fetchCard?.(signal))?.skills?.map(({ id }) => id),
      ['echo'],
    )
    const agent = await fixture.agent()
    assert.equal(await agent.ask('go'), 'Echo: hi')
    const alone = await (await createLoopFixture(t, scriptCallingOnce(), [down])).open()
    await assert.rejects(alone.fetchCard?.(signal) ?? Promise.resolve())
  })

  it('are called, report progress, and return files and data [S2-33]', async (t) => {
    const script = scriptCallingOnce(
      { name: 'get-sum', input: { a: 2, b: 3 }, id: 'sum' },
      { name: 'get-tiny-image', id: 'image' },
      { name: 'get-structured-content', input: { location: 'Chicago' }, id: 'data' },
      { name: 'trigger-long-running-operation', input: { duration: 0.6, steps: 2 }, id: 'long' },
      { name: 'get-sum', input: { a: 'x' }, id: 'wrong' },
    )
    const fixture = await createLoopFixture(t, script, [server()])
    const agent = await fixture.agent()
    const events = await agent.stream('go').all()
    const [sum, image, weather, long, wrong] = toolResultsIn((await fixture.model.request(2)).body)
    assert.match(sum ?? '', /is 5/)
    assert.match(image ?? '', /image\/png: given to the user/)
    assert.match(weather ?? '', /"temperature"/)
    assert.match(long ?? '', /completed/)
    assert.match(wrong ?? '', /are invalid/)
    const files = events.flatMap((event) =>
      'artifactUpdate' in event && event.artifactUpdate.artifact.artifactId.startsWith('file-')
        ? event.artifactUpdate.artifact.parts
        : [],
    )
    assert.equal(files[0]?.mediaType, 'image/png')
    const progress = callsIn(events).filter(({ outcome }) => outcome === 'progress')
    assert.match(JSON.stringify(progress), /1 of 2/)
  })

  it('may ask the user during a call', async (t) => {
    const fixture = await createLoopFixture(t, scriptCallingOnce({ name: 'trigger-elicitation-request' }), [server()])
    const agent = await fixture.agent()
    const asked = (await agent.send('go')) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(JSON.stringify(asked.status.message?.parts), /legal name/)
    const task = (await agent.send([{ data: { name: 'Ann', check: true } }], { taskId: asked.id })) as Task
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.match(toolResultsIn((await fixture.model.request(2)).body)[0] ?? '', /Ann/)
  })

  it('are canceled with the task', async (t) => {
    const fixture = await createLoopFixture(
      t,
      scriptCallingOnce({ name: 'trigger-long-running-operation', input: { duration: 30, steps: 30 } }),
      [server()],
    )
    const agent = await fixture.agent()
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    for await (const event of agent.subscribe(id)) if (callsIn([event]).length > 0) break
    assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
  })

  it('keep conversations apart, unless they are shared', async (t) => {
    const pid = `
      const tools = [{ name: 'pid', inputSchema: { type: 'object' } }]
      const answers = {
        initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } }),
        'tools/list': () => ({ tools }),
        'tools/call': () => ({ content: [{ type: 'text', text: String(process.pid) }] }),
      }
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line)
        if (id === undefined) return
        const body = answers[method] ? { result: answers[method](params) } : { error: { code: -32601, message: 'unknown' } }
        process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n')
      })`
    const command = [process.execPath, '-e', pid]
    for (const shared of [false, true]) {
      const script = scriptCallingOnce({ name: 'pid' })
      // Each task begins with a call, whatever earlier tasks contain.
      const anew: Script = (request, count) => {
        const { messages } = request.body
        const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
        return script({ ...request, body: { ...request.body, messages: since } }, count)
      }
      const fixture = await createLoopFixture(t, anew, [{ mcp: { command, shared } }])
      const opened = await fixture.open()
      t.after(() => opened.close?.())
      const as = (id: string) => {
        const agent = testAgent(opened.agent, { caller: { id } })
        t.after(() => agent.close())
        return (contextId: string) => agent.ask('go', { contextId })
      }
      const [alice, bob] = [as('alice'), as('bob')]
      const seen = [await alice('one'), await alice('one'), await alice('two'), await bob('one')]
      assert.equal(seen[0], seen[1])
      assert.equal(new Set(seen).size, shared ? 1 : 3)
    }
  })
})
