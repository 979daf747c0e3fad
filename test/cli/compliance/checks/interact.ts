/** Checks of interactions over several invocations: contexts, tasks, and what is printed to continue them. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

/** The `taskId` and `contextId` of every message that reached the agent. */
const sentIds = (sent: readonly { readonly params: Record<string, unknown> }[]) =>
  sent.map(({ params }) => params['message'] as { taskId?: string; contextId?: string; messageId: string })

export const interactChecks: Checks = {
  async A2ACLI_INTERACT_001(bench) {
    const agent = await bench.agent()
    const first = await finishedTask(bench, agent, 'complete')
    const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--context-id', first.contextId, 'context'], {
      shows: 'starts a new task in the given context',
    })
    const { task } = run.json<{ task: JsonTask }>()
    assert.equal(task.contextId, first.contextId)
    assert.notEqual(task.id, first.id)
  },

  async A2ACLI_INTERACT_002(bench) {
    const agent = await bench.agent()
    const asked = await finishedTask(bench, agent, 'input')
    const other = await finishedTask(bench, agent, 'complete')
    const answered = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--task-id', asked.id, 'Oslo'], {
      shows: 'continues the task without naming its context',
    })
    const { task } = answered.json<{ task: JsonTask }>()
    assert.deepEqual([task.id, task.contextId, task.status.state], [asked.id, asked.contextId, 'TASK_STATE_COMPLETED'])
    const ends = [
      [['--task-id', 'no-such-task'], 'fails with the protocol error for an unknown task'],
      [['--task-id', other.id], 'fails for a task that has ended'],
      [
        ['--task-id', asked.id, '--context-id', other.contextId],
        'fails for a context of another task, and reconciles nothing',
      ],
    ] as const
    for (const [ids, shows] of ends) {
      const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', ...ids, 'again'], { exit: 1, shows })
      const { error } = run.json<JsonError>()
      assert.match(error.code, /Error$/)
      assert.doesNotMatch(error.code, /^A2ACLI/)
      assert.match(`${error.hint ?? ''}${run.stderr}`, /--debug/)
    }
    const sends = sentIds([...agent.sent('SendStreamingMessage'), ...agent.sent('SendMessage')])
    assert.ok(
      sends.filter(({ taskId }) => taskId !== undefined).length >= ends.length && sends.length - 2 >= ends.length,
      'each id reached the agent',
    )
    assert.equal(
      sends.filter(({ taskId }) => taskId === undefined).length,
      2,
      'only the first two messages start a task',
    )
    const tasks = await bench.a2a(['task', 'list', '-a', agent.url, '-o', 'json'], {
      shows: 'has only the two tasks: none was started for a refused id',
    })
    assert.equal(tasks.json<{ tasks: JsonTask[] }>().tasks.length, 2)
  },

  async A2ACLI_INTERACT_003(bench) {
    const agent = await bench.agent()
    await bench.a2a(['send', '-a', agent.url, 'complete'], { shows: 'sends neither a task nor a context' })
    await bench.a2a(['send', '-a', agent.url, 'complete'], {
      shows: 'sends neither of them again: a context is not a chat',
    })
    const messages = sentIds([...agent.sent('SendStreamingMessage'), ...agent.sent('SendMessage')])
    assert.deepEqual(
      messages.map(({ taskId, contextId }) => [taskId, contextId]),
      [
        [undefined, undefined],
        [undefined, undefined],
      ],
    )
    assert.equal(new Set(messages.map(({ messageId }) => messageId)).size, 2)
  },

  async A2ACLI_INTERACT_004(bench) {
    const agent = await bench.agent()
    const ended = await bench.a2a(['send', '-a', agent.url, 'complete'], {
      shows: 'prints task, context and state at the end',
    })
    for (const label of ['Task ID', 'Context ID', 'State']) assert.ok(ended.values(label).length > 0, label)
    const asked = await bench.a2a(['send', '-a', agent.url, 'input'], {
      shows: 'prints them and the complete command to resume at INPUT_REQUIRED',
    })
    const [taskId = ''] = asked.values('Task ID')
    const [resume = ''] = asked.values('Resume')
    assert.match(resume, /^a2a send /)
    for (const word of [agent.url, `--task-id ${taskId}`]) assert.ok(resume.includes(word), `${resume} has ${word}`)
    // The command works as printed: a shell splits it, and the reply replaces its placeholder.
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${resume}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')
    const answered = await bench.a2a([...words.slice(1, -1), 'Oslo'], {
      shows: 'is the printed command with a reply, and continues the task',
    })
    assert.equal(answered.values('State').at(-1), 'TASK_STATE_COMPLETED')
    assert.ok(answered.values('Task ID').includes(taskId))
  },

  async A2ACLI_INTERACT_005(bench) {
    const agent = await bench.agent()
    await bench.a2a(['send', '-a', agent.url, 'input'], {
      shows: 'stores nothing in the home folder or the working folder',
    })
    const files = [...(await readdir(bench.home, { recursive: true })), ...(await readdir(bench.folder))]
    assert.deepEqual(
      files.filter((file) => !/(^|\/)(\.cache|\.config)(\/|$)/.test(file)),
      [],
    )
    const task = await startTask(bench, agent, 'hold interact-005')
    for (const file of await readdir(bench.home, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      const { readFile } = await import('node:fs/promises')
      assert.ok(!(await readFile(`${file.parentPath}/${file.name}`, 'utf8')).includes(task.id), file.name)
    }
    const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--continue', 'x'], {
      exit: 2,
      shows: 'has no --continue',
    })
    assert.equal(run.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
  },
}
