/** The kind `mcp` over the reference server of MCP, as a program and at an address. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { AgentMessage, Part, StreamEvent, Struct, Task } from '@parley/a2a'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { startEverythingServer, everythingCommand } from './mcp-everything.ts'

const places: readonly [string, (t: TestContext) => Promise<object>][] = [
  ['a program [full]', async () => ({ command: everythingCommand, cwd: import.meta.dirname })],
  ['an address', async (t) => ({ url: (await startEverythingServer(t)).url })],
]
const { signal } = new AbortController()

const open = async (t: TestContext, entry: object) =>
  openKind(t, mcpKind, entry, { services: { baseDir: import.meta.dirname } })
const partsOf = ({ artifacts = [] }: Task): readonly Part[] => artifacts.flatMap(({ parts }) => parts)
const textOf = (parts: readonly Part[]): string => parts.map((part) => ('text' in part ? part.text : '')).join('\n')
const said = ({ status }: Task): string => textOf(status.message?.parts ?? [])
const dataIn = (parts: AgentMessage['parts'] = []): Struct =>
  parts.flatMap((part) => ('data' in part ? [part.data as Struct] : []))[0] ?? {}

for (const [where, place] of places)
  describe(`the tools of a server behind ${where}`, () => {
    it('are skills with readable names, tags and examples, if they are allowed [S0-26 S0-28]', async (t) => {
      const server = await place(t)
      const { opened } = await open(t, server)
      const card = await opened.fetchCard?.(signal)
      assert.deepEqual([card?.name, card?.version], ['Everything Reference Server', '2.0.0'])
      assert.match(card?.description ?? '', /^Audience/)
      const sum = card?.skills?.find(({ id }) => id === 'get-sum')
      assert.deepEqual(sum, {
        id: 'get-sum',
        name: 'Get Sum Tool',
        description: 'Returns the sum of two numbers',
        tags: ['tool', 'mcp', 'compute'],
        examples: ['get-sum({"a":1,"b":1})'],
      })
      const names = card?.skills?.map(({ id }) => id) ?? []
      assert.ok(names.length > 10 && !names.includes('simulate-research-query'), names.join())
      const few = await open(t, { ...server, allow: ['get-*', 'echo'], deny: ['*-env', 'get-resource-*'] })
      assert.deepEqual(
        (await few.opened.fetchCard?.(signal))?.skills?.map(({ id }) => id),
        ['echo', 'get-annotated-message', 'get-structured-content', 'get-sum', 'get-tiny-image'],
      )
      const denied = (await few.agent.send([{ data: { tool: 'get-env' } }])) as Task
      assert.equal(denied.status.state, 'TASK_STATE_REJECTED')
      await few.opened.health?.(signal)
    })

    it('are called with data, by skill, or with text', async (t) => {
      const { agent } = await open(t, await place(t))
      const sum = { a: 2, b: 3 }
      const calls = [
        agent.send([{ data: { tool: 'get-sum', arguments: sum } }]),
        agent.send([{ data: { name: 'get-sum', arguments: sum } }]),
        agent.send([{ data: sum }], { metadata: { skillId: 'get-sum' } }),
        agent.send('get-sum(2, 3)'),
        agent.send('getSum({"a":2,"b":3})'),
        agent.send('get_sum a=2 b=3'),
        agent.send('a: 2\nb: 3', { metadata: { skillId: 'get-sum' } }),
      ]
      for (const task of (await Promise.all(calls)) as Task[]) {
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED', said(task))
        assert.equal(textOf(partsOf(task)), 'The sum of 2 and 3 is 5.')
        assert.deepEqual(task.artifacts?.[0]?.metadata, { tool: 'get-sum' })
      }
      assert.equal(await agent.ask('echo Hello there, you'), 'Echo: Hello there, you')
    })

    it('return images, files, data and links as parts', async (t) => {
      const { agent } = await open(t, { ...(await place(t)), resources: ['demo://*'], prompts: ['args-*'] })
      const image = partsOf((await agent.send('get-tiny-image')) as Task)[1]
      assert.ok(image !== undefined && 'raw' in image && image.mediaType === 'image/png')
      const [weather, ...more] = partsOf((await agent.send('get-structured-content location=Chicago')) as Task)
      assert.equal(more.length, 0)
      assert.equal(typeof dataIn(weather === undefined ? [] : [weather])['temperature'], 'number')
      const links = textOf(partsOf((await agent.send('get-resource-links(2)')) as Task))
      const [uri = ''] = /demo:\/\/resource\/dynamic\/text\/\d+/.exec(links) ?? []
      assert.match(await agent.ask(`read-resource ${uri}`), /^Resource \d+: This is a plaintext resource/)
      const blob = partsOf((await agent.send('get-resource-reference resourceType=Blob')) as Task)
      assert.ok(blob.some((part) => 'raw' in part && part.filename === '1'))
      const elsewhere = (await agent.send('read-resource file:///etc/hostname')) as Task
      assert.deepEqual(
        [elsewhere.status.state, said(elsewhere)],
        ['TASK_STATE_FAILED', 'file:///etc/hostname is not an allowed resource'],
      )
      assert.equal(await agent.ask('prompt:args-prompt Rome'), "What's weather in Rome?")
    })

    it('report progress', async (t) => {
      const { agent } = await open(t, await place(t))
      const events = await agent.stream('trigger-long-running-operation duration=0.9 steps=3').all()
      const statuses = events.flatMap((event: StreamEvent) => ('statusUpdate' in event ? [event.statusUpdate] : []))
      const calls = statuses.map(({ metadata }) => metadata?.['toolCall'] as Struct | undefined)
      const [started] = calls.filter((call) => call !== undefined)
      assert.deepEqual(started, { name: 'trigger-long-running-operation', outcome: 'started' })
      const second = statuses[calls.findIndex((call) => call?.['progress'] === 2)]
      assert.deepEqual(second?.metadata?.['toolCall'], {
        name: 'trigger-long-running-operation',
        outcome: 'progress',
        progress: 2,
        total: 3,
      })
      assert.equal(textOf(second?.status.message?.parts ?? []), '2 of 3')
    })

    it('ask the caller during a call, who accepts, declines or cancels', async (t) => {
      const { agent } = await open(t, await place(t))
      const ask = async (answer: string | Part[]): Promise<string> => {
        const asked = (await agent.send('trigger-elicitation-request()')) as Task
        assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
        assert.match(said(asked), /- name: .*legal name/)
        const { properties } = dataIn(asked.status.message?.parts)['requestedSchema'] as Struct
        assert.ok(Object.hasOwn(properties as Struct, 'name'))
        const task = (await agent.send(answer, { taskId: asked.id })) as Task
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED', said(task))
        return textOf(partsOf(task))
      }
      assert.match(await ask([{ data: { name: 'Ann', check: true } }]), /Name: Ann/)
      assert.match(await ask('name: Ben\ncheck: yes'), /Name: Ben/)
      assert.match(await ask('no'), /declined/)
      assert.match(await ask([{ data: { action: 'cancel' } }]), /cancelled/)
    })

    it('ask the caller to open a page, before or during the call', async (t) => {
      const { agent } = await open(t, await place(t))
      const words = 'trigger-url-elicitation url=https://example.com/pay'
      const pending = (await agent.send(words)) as Task
      assert.equal(pending.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.deepEqual(pending.status.message?.parts[1], { url: 'https://example.com/pay' })
      assert.match(textOf(partsOf((await agent.send('yes', { taskId: pending.id })) as Task)), /completed/)
      const first = (await agent.send(`${words} errorPath=true`)) as Task
      assert.match(said(first), /satisfy the prerequisite[^]*https:\/\/modelcontextprotocol\.io/)
      const second = (await agent.send('done', { taskId: first.id })) as Task
      assert.match(said(second), /https:\/\/example\.com\/pay/)
      assert.match(textOf(partsOf((await agent.send('yes', { taskId: first.id })) as Task)), /completed/)
    })

    it('are canceled with the task, and the connection stays open', async (t) => {
      const { agent } = await open(t, await place(t))
      const contextId = 'one-conversation'
      const { id } = (await agent.send('trigger-long-running-operation duration=30 steps=60', {
        returnImmediately: true,
        contextId,
      })) as Task
      for await (const event of agent.subscribe(id)) {
        if ('statusUpdate' in event && event.statusUpdate.status.message !== undefined) break
      }
      assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
      assert.equal(await agent.ask('echo still here', { contextId }), 'Echo: still here')
    })
  })

describe('a message that is not a call', () => {
  it('is answered with the problem: programs get an error, people get a question', async (t) => {
    const { agent } = await open(t, {
      command: everythingCommand,
      cwd: import.meta.dirname,
      allow: ['get-sum', 'echo'],
    })
    const wrong = (await agent.send([{ data: { tool: 'get-sum', arguments: { a: 'x' } } }])) as Task
    assert.equal(wrong.status.state, 'TASK_STATE_REJECTED')
    assert.match(said(wrong), /^Invalid arguments for get-sum: a is invalid \(expected number.*\); b is missing/)
    const { tool, violations } = dataIn(wrong.status.message?.parts)
    assert.deepEqual([tool, (violations as Struct[]).map(({ field }) => field)], ['get-sum', ['a', 'b']])

    const unknown = (await agent.send([{ data: {} }], { metadata: { skillId: 'get-some' } })) as Task
    assert.equal(unknown.status.state, 'TASK_STATE_REJECTED')
    assert.match(said(unknown), /^Unknown tool get-some\. There are:\n- echo: Echoes.*\n- get-sum: Returns/)
    const { tools } = dataIn(unknown.status.message?.parts)
    assert.deepEqual(
      (tools as Struct[]).map(({ name }) => name),
      ['echo', 'get-sum'],
    )

    const lost = (await agent.send('What is the weather like?')) as Task
    assert.equal(lost.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(said(lost), /The tool is ambiguous\. There are:\n- echo/)
    const begun = (await agent.send('get-sum', { taskId: lost.id })) as Task
    assert.match(said(begun), /a is missing; b is missing/)
    const half = (await agent.send('b=2', { taskId: lost.id })) as Task
    assert.match(said(half), /^Invalid arguments for get-sum: a is missing/)
    const done = (await agent.send('40', { taskId: lost.id })) as Task
    assert.equal(textOf(partsOf(done)), 'The sum of 40 and 2 is 42.')

    const again = (await agent.send('get-sum b=2')) as Task
    const left = (await agent.send('never mind', { taskId: again.id })) as Task
    assert.deepEqual([left.status.state, said(left)], ['TASK_STATE_REJECTED', 'Nothing was called'])
  })
})
