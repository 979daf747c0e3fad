/** Programs that flood, hang, ignore signals, fork, exit early or send invalid output. None of it reaches a caller or outlives its turn. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { describe, it } from 'node:test'
import { memoryStore, type Task } from '@parley/a2a'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { createTaskFacts } from '../../packages/hub/src/admin/task-facts.ts'
import { commandKind } from '../../packages/hub/src/agents/command/index.ts'
import type { OpenKindOptions } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { createSharedFolder } from './shared-folder.ts'
import { waitForProcessExit, isProcessAlive } from './process-liveness.ts'

/** A shell script as an agent, in a folder of its own. */
async function shell(t: TestContext, script: string, entry: object = {}, options: OpenKindOptions = {}) {
  const folder = createSharedFolder()
  t.after(() => folder.remove())
  const command = ['sh', '-c', script]
  const given = { command, killGrace: '200ms', cwd: folder.path, ...entry }
  return { folder, ...(await openKind(t, commandKind, given, options)) }
}

const said = (task: Task): string =>
  (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
const reason = ({ status }: Task): string =>
  (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
const outcomeOf = async (
  sending: Promise<unknown>,
): Promise<readonly [state: string, reason: string, said: string]> => {
  const task = (await sending) as Task
  return [task.status.state.replace('TASK_STATE_', ''), reason(task), said(task)]
}

describe('the state of a task', () => {
  it('follows the exit code of its program: 0 completes, any other code fails with a message [S0-16]', async (t) => {
    const { agent, lines } = await shell(t, 'echo out; echo secret >&2; exit $(cat)')
    assert.deepEqual(await outcomeOf(agent.send('0')), ['COMPLETED', '', 'out\n'])
    assert.deepEqual(await outcomeOf(agent.send('7')), ['FAILED', 'The program ended with exit code 7', 'out\n'])
    assert.ok(
      lines.some(({ fields }) => fields?.['line'] === 'secret'),
      'what it said on its error output is not logged',
    )
  })

  it('has the end of stderr for operators, whole although the program has exited', async (t) => {
    const store = memoryStore()
    const script =
      'i=0; while [ $i -lt 400 ]; do echo "line $i" >&2; i=$((i+1)); done; read n; [ $n = 0 ] && exec 2>&-; exit 3'
    const { agent } = await shell(t, script, {}, { test: { store } })
    const causeOf = async (text: string) => {
      const { id } = (await agent.send(text)) as Task
      const { tasks } = await store.tasks.search({ states: ['TASK_STATE_FAILED'], limit: 5 })
      const row = tasks.find((one) => one.id === id)
      assert.ok(row)
      return (await createTaskFacts(store).read(row)).cause
    }
    const lines = Array.from({ length: 20 }, (_, at) => `line ${380 + at}`).join('\n')
    assert.equal(await causeOf('1\n'), lines)
    assert.equal(await causeOf('0\n'), lines)
  })

  it('is FAILED if the program crashed', async (t) => {
    const { agent } = await shell(t, 'kill -SEGV $$; sleep 5')
    assert.deepEqual(await outcomeOf(agent.send('x')), ['FAILED', 'The program was stopped by SIGSEGV', ''])
  })

  it('is CANCELED after a cancel, even if the program exits with 0 [S0-16]', async (t) => {
    const { agent, folder } = await shell(
      t,
      'trap "exit 0" TERM; echo begun; touch begun; while :; do sleep 0.05; done',
    )
    const task = (await agent.send('x', { returnImmediately: true })) as Task
    await folder.waitForFile('begun')
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
  })

  it('is FAILED with a message if the program or its folder does not exist', async (t) => {
    for (const entry of [{ command: ['no-such-program'] }, { command: ['sh'], cwd: '/no/such/folder' }]) {
      const { agent, opened, lines } = await openKind(t, commandKind, entry)
      assert.deepEqual(await outcomeOf(agent.send('x')), ['FAILED', 'The program could not be started', ''])
      assert.ok(lines.some(({ message }) => message === 'a program failed'))
      if (entry.cwd === undefined) {
        await assert.rejects(
          async () => opened.health?.(AbortSignal.timeout(120_000)),
          /no-such-program does not exist/,
        )
      }
    }
  })

  it('is FAILED if the message is longer than an argument may be', async (t) => {
    const { agent } = await openKind(t, commandKind, { command: ['echo', '{text}'], cwd: '/' })
    const [state, sentence] = await outcomeOf(agent.send('x'.repeat(3_000_000)))
    assert.deepEqual([state, sentence], ['FAILED', 'The message is too long for the program'])
  })
})

describe('a program', () => {
  it('that floods is slowed by its pipe and stopped at its limit', async (t) => {
    const { agent, folder } = await shell(t, 'echo $$ > pid; yes', { outputLimit: '500kB' })
    const [state, sentence, text] = await outcomeOf(agent.send('x'))
    assert.deepEqual([state, sentence], ['FAILED', 'The output of the program exceeds 500000 bytes (outputLimit)'])
    assert.ok(text.length <= 500_000)
    await waitForProcessExit(Number(await folder.read('pid')))
  })

  it('that never ends is stopped at the deadline', async (t) => {
    const { agent, folder } = await shell(t, 'echo $$ > pid; sleep 1000', {}, { test: { turnTimeoutMs: 300 } })
    assert.deepEqual(await outcomeOf(agent.send('x')), ['FAILED', 'Task timed out', ''])
    await waitForProcessExit(Number(await folder.read('pid')))
  })

  it('that ignores SIGTERM is killed', async (t) => {
    const script = 'trap "" TERM; echo $$ > pid; touch begun; while :; do sleep 0.05; done'
    const { agent, folder } = await shell(t, script)
    const task = (await agent.send('x', { returnImmediately: true })) as Task
    await folder.waitForFile('begun')
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await waitForProcessExit(Number(await folder.read('pid')))
  })

  it('that forks is ended with its children', async (t) => {
    const { agent, folder } = await shell(t, 'sleep 1000 & echo $! > pid; touch begun; wait')
    const task = (await agent.send('x', { returnImmediately: true })) as Task
    await folder.waitForFile('begun')
    await agent.cancel(task.id)
    await waitForProcessExit(Number(await folder.read('pid')))
  })

  it('that leaves a child holding its output is not waited for', async (t) => {
    const { agent, folder } = await shell(t, 'sleep 1000 & echo $! > pid; echo done')
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', 'done\n'])
    await waitForProcessExit(Number(await folder.read('pid')))
  })

  it('that leaves a child in another session is not waited for', async (t) => {
    const { agent, folder } = await shell(
      t,
      'setsid sh -c "echo \\$\\$ > pid; touch begun; exec sleep 3" & echo done; while [ ! -e begun ]; do sleep 0.01; done',
    )
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', 'done\n'])
    // Beyond our reach, as the documentation says.
    assert.equal(isProcessAlive(Number(await folder.read('pid'))), true)
  })

  it('that writes invalid UTF-8 is read with replacement characters', async (t) => {
    const { agent } = await shell(t, "printf 'a\\377b\\303'; sleep 0.05; printf '\\251\\303'")
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', 'a\u{fffd}bé\u{fffd}'])
  })

  it('that closes its input does not fail', async (t) => {
    const { agent } = await shell(t, 'exec 0<&-; sleep 0.05; echo read nothing')
    assert.deepEqual(await outcomeOf(agent.send('x'.repeat(1_000_000))), ['COMPLETED', '', 'read nothing\n'])
  })

  it('that writes to stderr without end does not fill the log', async (t) => {
    const { agent, lines } = await shell(t, 'i=0; while [ $i -lt 2000 ]; do echo "oh no $i" >&2; i=$((i+1)); done')
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', ''])
    assert.ok(lines.length < 250, `${lines.length} lines were logged`)
  })

  it('that writes half a JSON line fails, by its exit code or because the line is incomplete', async (t) => {
    const { agent } = await shell(
      t,
      `printf '{"type":"assistant","text":"a"}\\n{"type":"assis'; exit $(grep -c break)`,
      {
        protocol: 'jsonl',
      },
    )
    assert.deepEqual(await outcomeOf(agent.send('break')), ['FAILED', 'The program ended with exit code 1', 'a'])
    assert.deepEqual(await outcomeOf(agent.send('x')), ['FAILED', 'The program exited in the middle of a line', 'a'])
  })

  it('that omits the last line break is understood', async (t) => {
    const { agent } = await shell(t, `printf '{"type":"assistant","text":"a"}'`, { protocol: 'jsonl' })
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', 'a'])
  })

  it('that writes something else than JSON lines fails, and the log has its output', async (t) => {
    const { agent, lines } = await shell(t, 'echo Loading weights...; sleep 1000', { protocol: 'jsonl' })
    const [state, sentence] = await outcomeOf(agent.send('x'))
    assert.deepEqual([state, sentence], ['FAILED', 'The program wrote a line that is not valid in its protocol'])
    assert.match(JSON.stringify(lines), /Loading weights/)
  })

  it('that writes an endless line is stopped at its limit', async (t) => {
    const { agent } = await shell(t, 'yes | tr -d "\\n"', { protocol: 'jsonl', outputLimit: '100kB' })
    const [state, sentence] = await outcomeOf(agent.send('x'))
    assert.deepEqual([state, sentence], ['FAILED', 'The output of the program exceeds 100000 bytes (outputLimit)'])
  })

  it('that has reported its end may exit with any code', async (t) => {
    const script = `echo '{"type":"assistant","text":"a"}'; echo '{"type":"done"}'; sleep 0.1; touch ended; exit 3`
    const { agent, folder } = await shell(t, script, { protocol: 'jsonl', killGrace: '5s' })
    assert.deepEqual(await outcomeOf(agent.send('x')), ['COMPLETED', '', 'a'])
    assert.equal(folder.has('ended'), false)
    await folder.waitForFile('ended')
  })

  it('sees only the configured environment', async (t) => {
    process.env['HUB_SECRET'] = 'swordfish'
    const { agent } = await shell(t, 'env', { env: { GIVEN: 'this' } })
    const text = said((await agent.send('x')) as Task)
    delete process.env['HUB_SECRET']
    assert.match(text, /^GIVEN=this$/m)
    assert.match(text, /^PATH=.+$/m)
    assert.match(text, /^A2A_TASK_ID=.+$/m)
    assert.doesNotMatch(text, /swordfish/)
  })

  it('receives the message without shell expansion', async (t) => {
    const { agent } = await openKind(t, commandKind, { command: ['printf', '%s', '{text}'], cwd: '/' })
    const text = '$(touch /tmp/x) `id` "; rm -rf ~" --help'
    assert.deepEqual(await outcomeOf(agent.send(text)), ['COMPLETED', '', text])
  })
})

describe('files', () => {
  const parts = [
    { text: 'read' },
    { raw: Buffer.from('one').toString('base64'), filename: '../a.txt', mediaType: 'text/plain' },
    { data: { n: 1 } },
    { url: 'https://files.example.com/b.txt' },
  ]
  const guardedFetch = (async () => new Response('two')) as typeof fetch

  it('are passed in a temporary folder, also those given by URL', async (t) => {
    const { agent, folder } = await shell(
      t,
      'echo "$A2A_DIR" > dir; ls "$A2A_DIR"; cat $A2A_FILES',
      {},
      { services: { guardedFetch } },
    )
    const [state, , text] = await outcomeOf(agent.send(parts))
    assert.deepEqual([state, text], ['COMPLETED', '1-a.txt\n2-file.json\n3-b.txt\none{"n":1}two'])
    assert.equal(existsSync(readFileSync(join(folder.path, 'dir'), 'utf8').trim()), false)
  })

  it('are passed inside the JSON line', async (t) => {
    const { agent, folder } = await shell(
      t,
      'cat > received',
      { protocol: 'jsonl', files: 'base64' },
      { services: { guardedFetch } },
    )
    assert.equal((await outcomeOf(agent.send(parts)))[0], 'COMPLETED')
    const line = JSON.parse(readFileSync(join(folder.path, 'received'), 'utf8')) as { data: unknown; files: unknown }
    assert.deepEqual(line.data, [{ n: 1 }])
    assert.deepEqual(line.files, [
      { name: 'a.txt', mediaType: 'text/plain', base64: Buffer.from('one').toString('base64') },
      { name: 'b.txt', mediaType: 'text/plain', base64: Buffer.from('two').toString('base64') },
    ])
  })

  it('are returned from that folder only', async (t) => {
    const script = `read line; cd "$A2A_DIR"; echo hi > r.txt; echo '{"type":"artifact","artifactId":"r","path":"r.txt","mediaType":"text/plain"}'`
    const good = await shell(t, script, { protocol: 'jsonl' })
    const task = (await good.agent.send('x')) as Task
    assert.deepEqual(task.artifacts?.[0]?.parts, [{ raw: 'aGkK', filename: 'r.txt', mediaType: 'text/plain' }])
    const bad = await shell(t, `echo '{"type":"artifact","path":"/etc/passwd"}'`, { protocol: 'jsonl' })
    assert.deepEqual(await outcomeOf(bad.agent.send('x')), [
      'FAILED',
      'The program named a file that could not be read',
      '',
    ])
  })

  it('that cannot be fetched fail the task with a message', async (t) => {
    const { agent } = await shell(t, 'cat')
    const [state, sentence] = await outcomeOf(agent.send(parts))
    assert.deepEqual([state, sentence], ['FAILED', 'A file that the message refers to could not be fetched'])
  })
})

describe('a persistent program', () => {
  const counting = 'n=0; while read line; do [ "$line" = "" ] && continue; n=$((n+1)); echo "$$ $n"; echo; done'
  const pidAndCount = (text: string) => text.split(' ').map(Number) as [number, number]

  it('answers the next message of its conversation, and each conversation has its own', async (t) => {
    const { agent } = await shell(t, counting, { mode: 'keep' })
    const [one, again, other] = [
      pidAndCount(await agent.ask('x', { contextId: 'a' })),
      pidAndCount(await agent.ask('x', { contextId: 'a' })),
      pidAndCount(await agent.ask('x', { contextId: 'b' })),
    ]
    assert.deepEqual([one[1], again, other[1]], [1, [one[0], 2], 1])
    assert.notEqual(other[0], one[0])
  })

  it('is stopped after its idle timeout', async (t) => {
    const { agent } = await shell(t, counting, { mode: 'keep', idleTimeout: '100ms' })
    const [pid] = pidAndCount(await agent.ask('x', { contextId: 'a' }))
    await waitForProcessExit(pid)
    assert.equal(pidAndCount(await agent.ask('x', { contextId: 'a' }))[1], 1)
  })

  it('is stopped for another conversation while idle, the longest idle first', async (t) => {
    const { agent } = await shell(t, counting, { mode: 'keep', processes: 2 })
    const [a] = pidAndCount(await agent.ask('x', { contextId: 'a' }))
    const [b] = pidAndCount(await agent.ask('x', { contextId: 'b' }))
    await agent.ask('x', { contextId: 'a' })
    await agent.ask('x', { contextId: 'c' })
    await waitForProcessExit(b)
    assert.equal(isProcessAlive(a), true)
    assert.deepEqual(pidAndCount(await agent.ask('x', { contextId: 'a' })), [a, 3])
  })

  it('is restarted after it exited while idle', async (t) => {
    const { agent } = await shell(t, 'read line; echo $$; echo', { mode: 'keep' })
    const first = await agent.ask('x', { contextId: 'a' })
    // Not even a zombie: the hub knows that it exited.
    await eventually(() => {
      try {
        return !process.kill(Number(first), 0)
      } catch {
        return true
      }
    }, 'the exit of the program')
    assert.notEqual(await agent.ask('x', { contextId: 'a' }), first)
  })

  it('that exits during an answer ends the task by its exit code', async (t) => {
    const { agent } = await shell(t, 'read line; echo half; exit $line', { mode: 'keep' })
    assert.deepEqual(await outcomeOf(agent.send('0')), ['COMPLETED', '', 'half'])
    assert.deepEqual(await outcomeOf(agent.send('4')), ['FAILED', 'The program ended with exit code 4', 'half'])
  })

  it('is restarted after a cancel', async (t) => {
    const script =
      'n=0; while read line; do n=$((n+1)); [ "$line" = long ] && touch begun && sleep 1000; [ "$line" = "" ] || { echo $n; echo; }; done'
    const { agent, folder } = await shell(t, script, { mode: 'keep' })
    await agent.ask('x', { contextId: 'a' })
    const task = (await agent.send('long', { contextId: 'a', returnImmediately: true })) as Task
    await folder.waitForFile('begun')
    await agent.cancel(task.id)
    assert.equal(await agent.ask('x', { contextId: 'a' }), '1')
  })
})
