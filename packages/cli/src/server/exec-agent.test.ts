import assert from 'node:assert/strict'
import { describe, it, after } from 'node:test'
import { existsSync, mkdtempSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, type StreamEvent } from '@parley/a2a'
import { connect, type RemoteAgent } from '@parley/a2a/client'
import { serve, type Server } from '@parley/a2a/node'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { createExecAgent, type ExecAgentOptions } from './exec-agent.ts'

const servers: Server[] = []
after(() => Promise.all(servers.map((server) => server.close())))

async function agentFor(command: string, over: Partial<ExecAgentOptions> = {}): Promise<RemoteAgent> {
  const agent = createExecAgent({
    command,
    cwd: tmpdir(),
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    timeoutMs: 60_000,
    maxOutputBytes: 100_000,
    limit: createConcurrencyLimit(2),
    ...over,
  })
  const server = await serve({ name: 'exec', agent: agent.run, port: 0, store: memoryStore(), quiet: true })
  servers.push(server)
  return connect(server.url)
}

/** The text of each artifact event, with how it extends the artifact. */
const artifactEvents = (events: readonly StreamEvent[]): unknown[] =>
  events.flatMap((event) => {
    if (!('artifactUpdate' in event)) return []
    const { artifact, append, lastChunk } = event.artifactUpdate
    return [
      [artifact.parts.map((part) => ('text' in part ? part.text : part)).join(''), append === true, lastChunk === true],
    ]
  })

/** Resolves when the file has appeared, as a program shows that it is running. */
function untilExists(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, look)
    look()
    function look(): void {
      if (!existsSync(join(folder, name))) return
      watcher.close()
      resolve()
    }
  })
}

describe('the agent of --exec', () => {
  it('passes the text to stdin and returns stdout as one artifact', async () => {
    const agent = await agentFor('tr a-z A-Z')
    const events = await agent.stream([{ text: 'one' }, { text: 'two ä' }]).all()
    assert.deepEqual(artifactEvents(events), [['ONE\nTWO ä', false, true]])
    const task = await agent.send('x')
    assert.ok(task.kind === 'task' && task.status.state === 'TASK_STATE_COMPLETED')
  })

  it('knows the ids of the task, and nothing of the environment that it was not given', async () => {
    const agent = await agentFor('echo "$A2A_TASK_ID $A2A_CONTEXT_ID [$HOME]"')
    const task = await agent.send('x')
    assert.ok(task.kind === 'task')
    assert.equal(await agent.get(task.id).then(textOf), `${task.id} ${task.contextId} []\n`)
  })

  it('fails the task with stderr, or with the exit code', async () => {
    const withText = await (await agentFor('echo wrong >&2; exit 3')).send('x')
    const without = await (await agentFor('exit 4')).send('x')
    for (const [task, text] of [
      [withText, 'wrong'],
      [without, 'The program exited with 4'],
    ] as const) {
      assert.ok(task.kind === 'task')
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.deepEqual(task.status.message?.parts, [{ text }])
    }
  })

  it('streams pieces at once, keeps the delimiter, and closes the artifact', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-exec-'))
    // The program continues only after the first piece was received.
    const agent = await agentFor(
      `printf 'a\\nb'; while [ ! -e ${folder}/go ]; do sleep 0.05; done; printf 'c\\nrest'`,
      {
        delimiter: '\n',
      },
    )
    const events: StreamEvent[] = []
    for await (const event of agent.stream('x')) {
      events.push(event)
      if ('artifactUpdate' in event && !existsSync(join(folder, 'go'))) {
        writeFileSync(join(folder, 'go'), '')
      }
    }
    assert.deepEqual(artifactEvents(events), [
      ['a\n', false, false],
      ['bc\n', true, false],
      ['rest', true, true],
    ])
  })

  it('ends the program and its children when the task is canceled', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-exec-'))
    const agent = await agentFor(
      `sh -c 'echo $$ > ${folder}/child.tmp; mv ${folder}/child.tmp ${folder}/child; sleep 600' & wait`,
    )
    const { id } = await agent.start('x')
    await untilExists(folder, 'child')
    const canceled = await agent.cancel(id)
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    const pid = Number(readFileSync(join(folder, 'child'), 'utf8'))
    await untilGone(pid)
  })

  it('ends a program that takes too long, and one that writes too much', async () => {
    const slow = await (await agentFor('sleep 600', { timeoutMs: 50 })).send('x')
    const large = await (await agentFor('yes')).send('x')
    assert.ok(slow.kind === 'task' && large.kind === 'task')
    assert.deepEqual(slow.status.message?.parts, [{ text: 'The program took longer than 0.05 s' }])
    assert.deepEqual(large.status.message?.parts, [{ text: 'The output of the program is larger than 100000 bytes' }])
  })

  it('ends the task although a program that left the group holds its output', { timeout: 120_000 }, async (t) => {
    const { setTimeout: realSetTimeout } = globalThis
    // The time to end after SIGTERM.
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number, ...rest: []) =>
      realSetTimeout(run, ms === 2_000 ? 50 : ms, ...rest),
    )
    const agent = await agentFor('setsid sleep 300 & sleep 300', { timeoutMs: 50 })
    const { status } = await agent.wait((await agent.start('')).id)
    assert.equal(status.state, 'TASK_STATE_FAILED')
    assert.match(JSON.stringify(status.message), /took longer than/)
  })

  it('lets others wait while the limit is reached', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-exec-'))
    const agent = await agentFor(
      `id=$(cat); touch ${folder}/$id; if [ $id = first ]; then while [ ! -e ${folder}/go ]; do sleep 0.05; done; ls ${folder}; fi`,
      { limit: createConcurrencyLimit(1) },
    )
    const first = await agent.start('first')
    await untilExists(folder, 'first')
    const second = await agent.start('second')
    writeFileSync(join(folder, 'go'), '')
    // While the first ran, the second had not begun.
    assert.equal(textOf(await agent.wait(first.id)), 'first\ngo\n')
    assert.equal((await agent.wait(second.id)).status.state, 'TASK_STATE_COMPLETED')
  })
})

function textOf(task: Awaited<ReturnType<RemoteAgent['get']>>): string {
  return (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
