/** What callers see of an ACP agent, what the agent may do, and how the hub handles a misbehaving one. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { describe, it } from 'node:test'
import type { Message, Part, StreamEvent, Task } from '@parley/a2a'
import { type KeyValueStore, memoryKeyValueStore } from '@parley/a2a/stores'
import { acpKind } from '../../packages/hub/src/agents/acp/index.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { createSharedFolder } from './shared-folder.ts'

const program = join(import.meta.dirname, 'programs/acp-agent.ts')

interface Given {
  readonly entry?: object
  readonly lacks?: string
  readonly kv?: KeyValueStore
  readonly folder?: ReturnType<typeof createSharedFolder>
}

async function open(
  t: TestContext,
  { entry = {}, lacks = '', kv = memoryKeyValueStore(), folder = createSharedFolder() }: Given = {},
) {
  t.after(() => folder.remove())
  const given = {
    command: [process.execPath, program],
    env: { BENCH: folder.path, LACKS: lacks },
    killGrace: '300ms',
    ...entry,
  }
  return { folder, kv, ...(await openKind(t, acpKind, given, { services: { baseDir: folder.path, kv } })) }
}

const textOf = (parts: readonly Part[] = []): string => parts.map((part) => ('text' in part ? part.text : '')).join('')
const said = (task: Task): string => textOf(task.artifacts?.flatMap(({ parts }) => parts))
const outcomeOf = (answer: Task | Message): readonly [state: string, reason: string, said: string] => {
  const task = answer as Task
  return [task.status.state.replace('TASK_STATE_', ''), textOf(task.status.message?.parts), said(task)]
}
const metadataIn = (events: readonly StreamEvent[]): readonly unknown[] =>
  events.flatMap((event) => ('statusUpdate' in event ? (event.statusUpdate.metadata ?? []) : []))

describe('an ACP agent', () => {
  it('sends text as one artifact, files as others, and its work as status updates without internal details', async (t) => {
    const { agent } = await open(t)
    const events = await agent.stream('work').all()
    const task = await agent.get((events[0] as { task: Task }).task.id)
    assert.deepEqual(
      task.artifacts?.map(({ parts }) => parts),
      [[{ text: 'first\n\nsecond' }], [{ raw: 'AA==', mediaType: 'image/png' }]],
    )
    assert.deepEqual(metadataIn(events), [
      { plan: [{ content: 'Read', status: 'pending', priority: 'high' }] },
      { toolCall: { toolCallId: 't3', title: 'Reading', kind: 'read', status: 'pending' } },
      { toolCall: { toolCallId: 't3', status: 'completed' } },
    ])
    assert.doesNotMatch(JSON.stringify(events), /secret/)
  })

  it('shows more or less of its work as its entry configures', async (t) => {
    const all = await open(t, { entry: { thoughts: true, tools: 'all' } })
    const shown = metadataIn(await all.agent.stream('work').all())
    assert.deepEqual(shown[0], { thought: 'hm' })
    assert.match(JSON.stringify(shown[2]), /"rawInput":\{"path":"\/secret\/place"\}/)
    const none = await open(t, { entry: { tools: 'none' } })
    assert.equal(metadataIn(await none.agent.stream('work').all()).length, 1)
  })

  it('ends a task with the reason why it stopped', async (t) => {
    const { agent } = await open(t)
    assert.deepEqual(outcomeOf(await agent.send('stop end_turn')), ['COMPLETED', '', ''])
    assert.deepEqual(outcomeOf(await agent.send('stop max_tokens')).slice(0, 2), [
      'COMPLETED',
      'The answer is incomplete: the model reached its token limit',
    ])
    assert.deepEqual(outcomeOf(await agent.send('stop max_turn_requests')).slice(0, 2), [
      'COMPLETED',
      'The agent stopped: it reached its step limit',
    ])
    assert.deepEqual(outcomeOf(await agent.send('stop refusal')).slice(0, 2), [
      'REJECTED',
      'The agent declined to answer',
    ])
    assert.equal(outcomeOf(await agent.send('stop cancelled'))[0], 'CANCELED')
  })

  it('has a card with its own name', async (t) => {
    const { opened } = await open(t)
    assert.deepEqual(await opened.fetchCard?.(AbortSignal.timeout(120_000)), { name: 'Scripted', version: '7.0.0' })
    await opened.health?.(AbortSignal.timeout(120_000))
  })

  it('rejects a message with an unsupported file before a task exists', async (t) => {
    const { agent } = await open(t, { lacks: 'image,embed' })
    const image: Part = { raw: 'AA==', mediaType: 'image/png', filename: 'a.png' }
    await agent.send('say hello')
    await assert.rejects(agent.send([{ text: 'blocks' }, image]), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
  })

  it('receives a message as content blocks', async (t) => {
    const { agent } = await open(t)
    const image: Part = { raw: 'AA==', mediaType: 'image/png', filename: 'a.png' }
    const blocks = JSON.parse(said((await agent.send([{ text: 'blocks ' }, image])) as Task)) as unknown
    assert.deepEqual(blocks, [
      { type: 'text', text: 'blocks ' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ])
  })
})

describe('a permission request', () => {
  it('lists its options and accepts an answer by number, name, id or data; any other answer is asked again', async (t) => {
    const { agent } = await open(t)
    const choose = async (...answers: readonly (string | readonly Part[])[]): Promise<string> => {
      let task = (await agent.send('ask')) as Task
      for (const answer of answers) {
        assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
        task = (await agent.send(answer, { taskId: task.id, contextId: task.contextId as string })) as Task
      }
      return said(task)
    }
    assert.equal(await choose('2'), 'chose always')
    assert.equal(await choose('allow once'), 'chose yes')
    assert.equal(await choose([{ data: { optionId: 'no' } }]), 'chose no')
    assert.equal(await choose('perhaps', 'no'), 'chose no')
  })

  it('is denied when the task is canceled, and the agent stops', async (t) => {
    const { agent, folder } = await open(t)
    const { id } = (await agent.send('ask')) as Task
    assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
    await folder.waitForFile('stopped')
    assert.equal(readFileSync(join(folder.path, 'stopped'), 'utf8'), 'cancelled')
  })

  it('is granted or denied without a question if the entry configures it', async (t) => {
    const allowing = await open(t, { entry: { permissions: 'allow' } })
    assert.equal(await allowing.agent.ask('ask'), 'chose yes')
    const rejecting = await open(t, { entry: { permissions: 'reject' } })
    assert.equal(await rejecting.agent.ask('ask'), 'chose no')
  })
})

describe('a session', () => {
  it('is reused for a conversation after a restart, without repeating past output', async (t) => {
    const one = await open(t)
    assert.equal(await one.agent.ask('remember swordfish', { contextId: 'c' }), 'noted')
    await one.opened.close?.()
    const { folder, kv } = one
    const other = await open(t, { folder, kv })
    assert.equal(await other.agent.ask('recall', { contextId: 'c' }), 'swordfish')
  })

  it('is replaced by a new one if the agent cannot load it, with a notice to the caller', async (t) => {
    const one = await open(t, { lacks: 'load' })
    await one.agent.ask('remember swordfish', { contextId: 'c' })
    await one.opened.close?.()
    const { folder, kv } = one
    const other = await open(t, { folder, kv, lacks: 'load' })
    const events = await other.agent.stream('recall', { contextId: 'c' }).all()
    assert.match(JSON.stringify(events), /The previous conversation could not be loaded: a new one was started/)
    assert.match(JSON.stringify(events), /nothing/)
    assert.doesNotMatch(
      JSON.stringify(await other.agent.stream('recall', { contextId: 'c' }).all()),
      /a new one was started/,
    )
  })

  it('is replaced by a new one if the agent has lost it', async (t) => {
    const one = await open(t)
    await one.agent.ask('remember swordfish', { contextId: 'c' })
    await one.opened.close?.()
    one.folder.remove()
    const other = await open(t, { kv: one.kv })
    assert.equal(await other.agent.ask('recall', { contextId: 'c' }), 'nothing')
  })

  it('has the configured mode and model', async (t) => {
    const { agent } = await open(t, { entry: { mode: 'plan', model: 'large' } })
    assert.equal(await agent.ask('settings'), 'plan large')
  })

  it('reports that it requires sign-in', async (t) => {
    const { agent } = await open(t, { lacks: 'sign-in' })
    await assert.rejects(agent.ask('x'), /requires sign-in by its operator/)
  })

  it('may have its own folder', async (t) => {
    const { agent, folder } = await open(t, { entry: { cwd: 'work/{session}', terminals: true } })
    const one = await agent.ask('run pwd', { contextId: 'a' })
    const other = await agent.ask('run pwd', { contextId: 'b' })
    assert.ok(one.startsWith(`0 ${join(folder.path, 'work')}/`), one)
    assert.notEqual(one, other)
  })
})

describe('files and commands of the hub', () => {
  it('are unavailable to the agent unless the entry allows them', async (t) => {
    const { agent, folder } = await open(t)
    writeFileSync(join(folder.path, 'a.txt'), 'one\ntwo')
    for (const text of [`read ${join(folder.path, 'a.txt')}`, `write ${join(folder.path, 'b.txt')}`, 'run id']) {
      assert.deepEqual(outcomeOf(await agent.send(text)), ['FAILED', 'The agent could not answer', ''])
    }
    assert.equal(existsSync(join(folder.path, 'b.txt')), false)
  })

  it("are limited to the agent's folder if the entry allows them", async (t) => {
    const { agent, folder } = await open(t, { entry: { files: true, cwd: 'work/{session}', terminals: true } })
    const home = (await agent.ask('run pwd', { contextId: 'c' })).slice(2).trim()
    writeFileSync(join(home, 'a.txt'), 'one\ntwo\nthree')
    writeFileSync(join(folder.path, 'outside.txt'), 'one\nsecret')
    assert.equal(await agent.ask(`read ${join(home, 'a.txt')}`, { contextId: 'c' }), 'two')
    assert.equal(await agent.ask(`write ${join(home, 'b.txt')}`, { contextId: 'c' }), 'done')
    assert.equal(readFileSync(join(home, 'b.txt'), 'utf8'), 'written')
    const outside = await agent.send(`read ${join(folder.path, 'outside.txt')}`, { contextId: 'c' })
    assert.deepEqual(outcomeOf(outside), ['FAILED', 'The agent could not answer', ''])
  })

  it('run to their end, with the output of both streams', async (t) => {
    const { agent } = await open(t, { entry: { terminals: true } })
    assert.equal(await agent.ask('run echo out; echo err >&2; exit 3'), '3 out\nerr\n')
  })
})

describe('an ACP program', () => {
  it('that exits during a turn fails its task and is restarted for the next', async (t) => {
    const { agent } = await open(t)
    assert.deepEqual(outcomeOf(await agent.send('exit')), ['FAILED', "The agent's program exited during the turn", ''])
    assert.equal(await agent.ask('say hello'), 'you said hello.')
  })

  it('that prints lines that are not messages is still understood', async (t) => {
    const { agent, lines } = await open(t)
    assert.equal(await agent.ask('debris'), 'still here')
    assert.match(JSON.stringify(lines), /Loading weights/)
  })

  it('that floods is stopped at its limit, and other agents still answer', async (t) => {
    const { agent } = await open(t, { entry: { outputLimit: '200kB' } })
    const [state, reason] = outcomeOf(await agent.send('flood', { contextId: 'a' }))
    assert.deepEqual([state, reason], ['FAILED', 'The output of the agent exceeds 200000 bytes (outputLimit)'])
    assert.equal(await agent.ask('say hello', { contextId: 'b' }), 'you said hello.')
  })

  it('that ignores a cancel is replaced once no other session uses it', async (t) => {
    const { agent, folder, lines } = await open(t)
    const slow = (await agent.send('slow', { contextId: 'b', returnImmediately: true })) as Task
    const { id } = (await agent.send('deaf', { contextId: 'a', returnImmediately: true })) as Task
    await folder.waitForFile('deaf')
    assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
    assert.equal(await agent.ask('say hello', { contextId: 'a' }), 'you said hello.')
    folder.createFile('released')
    assert.deepEqual(await agent.subscribe(slow.id).states(), ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    assert.equal(said(await agent.get(slow.id)), 'one two three')
    assert.ok(lines.some(({ message }) => message === 'the agent did not stop on request'))
  })

  it('that never completes the handshake times out', async (t) => {
    const { agent } = await openKind(t, acpKind, {
      ...{ command: ['sleep', '1000'], cwd: '/', startTimeout: '200ms', killGrace: '100ms' },
    })
    await assert.rejects(agent.ask('x'), /The program of the agent did not start in time/)
  })

  it('that uses another protocol times out', async (t) => {
    const { agent, lines } = await openKind(t, acpKind, {
      ...{
        command: ['sh', '-c', 'while :; do echo hello; sleep 0.02; done'],
        cwd: '/',
        startTimeout: '200ms',
        killGrace: '100ms',
      },
    })
    await assert.rejects(agent.ask('x'), /did not start in time/)
    assert.ok(lines.length > 0)
  })

  it('that does not exist, or exits at once, is reported', async (t) => {
    for (const command of [['no-such-program'], ['false']]) {
      const { agent, lines } = await openKind(t, acpKind, { command, cwd: '/' })
      await assert.rejects(agent.ask('x'), { message: 'The program of the agent could not be started' })
      assert.ok(lines.some(({ message }) => message === 'the program of an agent could not be started'))
    }
  })

  it('that did not start is not up, and is up once it starts', async (t) => {
    let at = 0
    const folder = createSharedFolder()
    t.after(() => folder.remove())
    const script = `[ -e licence ] || { echo "no licence" >&2; exit 3; }; exec "${process.execPath}" "${program}"`
    const entry = { command: ['sh', '-c', script], cwd: folder.path, env: { BENCH: folder.path } }
    const { agent, opened } = await openKind(t, acpKind, entry, { services: { monotonicNow: () => at } })
    const check = async (): Promise<void> => opened.health?.(AbortSignal.timeout(120_000))
    await check()
    await assert.rejects(agent.ask('x'))
    const failure = { cause: new Error('ACP connection closed (stderr: no licence)') }
    await assert.rejects(check(), failure)
    writeFileSync(join(folder.path, 'licence'), '')
    await assert.rejects(check(), failure, 'it waits before it starts again')
    at += 1_000
    await check()
    assert.match(await agent.ask('say hello'), /hello/)
  })
})
