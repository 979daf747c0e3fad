/** Checks of what is printed where: stdout and stderr, documents and lines, errors, text, exit codes. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exitCodeOf, freePort } from '../../outside-fixtures.ts'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

const bindings = ['jsonrpc', 'rest', 'grpc'] as const

export const outputChecks: Checks = {
  async A2ACLI_OUT_001(bench) {
    const agent = await bench.agent()
    const { id, contextId } = await finishedTask(bench, agent, 'complete')
    const commands = [
      ['send', '-a', agent.url, 'complete'],
      ['task', 'get', id, '-a', agent.url],
      ['task', 'list', '-a', agent.url],
    ]
    for (const command of commands) {
      const text = await bench.a2a(command, { shows: 'names task, context and state' })
      for (const label of ['Task ID', 'Context ID', 'State']) assert.ok(text.values(label).length > 0, label)
      const json = await bench.a2a([...command, '-o', 'json', '--debug'], {
        shows: 'has only the document on stdout, and the diagnostics on stderr',
      })
      assert.match(JSON.stringify(json.json()), /"contextId":.*"state":"TASK_STATE_/)
      assert.notEqual(json.stderr, '')
    }
    const canceled = await startTask(bench, agent, 'hold out-001')
    const cancel = await bench.a2a(['task', 'cancel', canceled.id, '-a', agent.url], { shows: 'names them too' })
    assert.deepEqual([cancel.values('Task ID')[0], cancel.values('Context ID').length], [canceled.id, 1])
    assert.ok(contextId.length > 0)
  },

  async A2ACLI_OUT_002(bench) {
    const agent = await bench.agent()
    const sent = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'chunks'], {
      shows: 'prints one SendMessageResponse with the final task, although the agent streams',
    })
    const document = sent.json<{ task: JsonTask }>()
    assert.deepEqual(Object.keys(document), ['task'])
    assert.equal(document.task.status.state, 'TASK_STATE_COMPLETED')
    assert.doesNotMatch(sent.stdout, /"kind"|"statusUpdate"|"artifactUpdate"/)
    const message = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'message'], {
      shows: 'prints the Message of a direct reply',
    })
    assert.deepEqual(Object.keys(message.json()), ['message'])
    const configured = await bench.a2a(['send', '-a', agent.url, 'complete'], {
      env: { A2ACLI_OUTPUT: 'json', A2ACLI_STREAM: 'true' },
      shows: 'stays one document: the environment cannot turn on --stream',
    })
    assert.deepEqual(Object.keys(configured.json()), ['task'])
  },

  async A2ACLI_OUT_003(bench) {
    const agent = await bench.agent()
    const running = await bench.start(['send', '-a', agent.url, '-o', 'json', '--stream', 'hold out-003'])
    await running.waitFor('stdout', /before the gate.*\n/)
    agent.gates.open('out-003')
    const run = await bench.finish(running, {
      shows: 'prints each event when it comes, one compact object per line, the last with ids and final state',
    })
    const lines = run.lines()
    assert.ok(lines.every((line) => Object.keys(line).length === 1))
    const last = lines.at(-1) as {
      statusUpdate?: { taskId: string; contextId: string; status: { state: string } }
      task?: JsonTask
    }
    const final = last.statusUpdate?.status ?? last.task?.status
    assert.equal(final?.state, 'TASK_STATE_COMPLETED')
    assert.ok((last.statusUpdate?.contextId ?? last.task?.contextId ?? '').length > 0)
    const failed = await bench.a2a(
      ['send', '-a', agent.url, '-o', 'json', '--stream', '--task-id', 'no-such-task', 'x'],
      {
        exit: 1,
        shows: 'prints an error as the last line',
      },
    )
    const error = failed.lines<JsonError>().at(-1)
    assert.equal(error?.error.code, 'TaskNotFoundError')
    agent.server.rules.push(({ body }) => {
      if (body.includes('"SendStreamingMessage"')) return { cutAfterEvents: 2 }
      return /"(SubscribeToTask|GetTask)"/.test(body) ? { cutAfterEvents: 0 } : undefined
    })
    const cut = await bench.start([
      'send',
      '-a',
      agent.url,
      '-o',
      'json',
      '--stream',
      '--timeout',
      '2s',
      '--poll-interval',
      '50ms',
      'hold never',
    ])
    const over = await cut.ended
    assert.notEqual(over.code, 0, 'a cut stream is not a success')
    assert.ok('error' in (over.lines().at(-1) ?? {}))
  },

  async A2ACLI_OUT_004(bench) {
    const agent = await bench.agent({ grpc: true })
    const done = await finishedTask(bench, agent, 'complete')
    const failures = [
      [['task', 'get', 'no-such-task'], 'TaskNotFoundError'],
      [['task', 'cancel', done.id], 'TaskNotCancelableError'],
      [['task', 'subscribe', done.id], 'UnsupportedOperationError'],
    ] as const
    for (const [command, name] of failures) {
      const messages = new Set<string>()
      for (const binding of bindings) {
        const run = await bench.a2a([...command, '-a', agent.url, '--transport', binding, '-o', 'json'], {
          exit: 1,
          shows: `reports ${name}`,
        })
        const { error } = run.json<JsonError>()
        assert.equal(error.code, name)
        assert.deepEqual(Object.keys(error).sort(), ['a2aCode', 'code', 'hint', 'message'])
        assert.ok((error.hint ?? '').length > 0)
        messages.add(error.message)
      }
      assert.equal(messages.size, 1, `the same message over every binding: ${[...messages].join(' | ')}`)
    }
    const text = await bench.a2a(['task', 'get', 'no-such-task', '-a', agent.url], {
      exit: 1,
      shows: 'prints the error with its code on stderr in text mode, and nothing on stdout',
    })
    assert.equal(text.stdout, '')
    assert.match(text.stderr, /TaskNotFoundError/)
  },

  async A2ACLI_OUT_005(bench) {
    const agent = await bench.agent()
    const run = await bench.a2a(['send', '-a', agent.url, 'parts'], {
      shows: 'prints only fields and closed blocks, without control characters',
    })
    const labels = run.fields().map(({ label }) => label)
    const again = await bench.a2a(['send', '-a', agent.url, 'parts'], { shows: 'has the same labels again' })
    assert.deepEqual(
      again.fields().map(({ label }) => label),
      labels,
    )
    const hostile = await bench.a2a(['send', '-a', agent.url, 'hostile'], {
      shows: 'neutralises escape sequences of the agent, and a label that the agent invents stays inside its block',
    })
    assert.equal(hostile.values('Task ID').filter((id) => id === 'forged').length, 0)
    const stream = await bench.a2a(['send', '-a', agent.url, '--stream', 'chunks'], {
      shows: 'prints events in the same form, and the last restates task, context and state',
    })
    const tail = stream
      .fields()
      .slice(-8)
      .map(({ label }) => label)
    for (const label of ['Task ID', 'Context ID', 'State']) assert.ok(tail.includes(label), label)
    const chat = await bench.a2a(['chat', '-a', agent.url, 'complete'], {
      shows: 'degrades to text without a terminal, and asks nothing',
    })
    assert.ok(chat.values('State').includes('TASK_STATE_COMPLETED'))
  },

  async A2ACLI_OUT_006(bench) {
    const agent = await bench.agent()
    const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--async', 'hold out-006'], {
      shows: 'carries task and context in JSON',
    })
    const { task } = run.json<{ task: JsonTask }>()
    const text = await bench.a2a(['send', '-a', agent.url, '--async', 'hold out-006'], {
      shows: 'carries them in text',
    })
    assert.ok((text.values('Task ID')[0] ?? '').length > 0 && (text.values('Context ID')[0] ?? '').length > 0)
    const later = await bench.a2a(['task', 'get', task.id, '-a', agent.url, '-o', 'json'], {
      shows: 'finds the task by its id',
    })
    assert.equal(later.json<JsonTask>().contextId, task.contextId)
  },

  async A2ACLI_EXIT_001(bench) {
    const agent = await bench.agent()
    const secured = await bench.agent({
      settings: {
        authenticate: ({ header }) => (header('authorization') === 'Bearer right' ? { id: 'me' } : undefined),
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      },
    })
    await writeFile(join(bench.folder, 'broken.json'), '{"name": 1')
    const closed = `http://127.0.0.1:${await freePort()}`
    const cases = [
      [['send', '-a', agent.url, 'complete'], undefined],
      [['task', 'get', 'no-such-task', '-a', agent.url], 'TaskNotFoundError'],
      [['send', '-a', agent.url, '--no-such-option', 'x'], 'A2ACLI_ERR_USAGE'],
      [['task'], 'A2ACLI_ERR_USAGE'],
      [['send', 'x'], 'A2ACLI_ERR_USAGE'],
      [['card', 'get', '-a', closed], 'A2ACLI_ERR_UNREACHABLE'],
      [['card', 'get', '-a', './missing.json'], 'A2ACLI_ERR_CARD_NOT_FOUND'],
      [['card', 'get', '-a', `${agent.url}/nothing-here`], 'A2ACLI_ERR_CARD_NOT_FOUND'],
      [['card', 'get', '-a', './broken.json'], 'A2ACLI_ERR_CARD_INVALID'],
      [['send', '-a', secured.url, 'x'], 'A2ACLI_ERR_CREDENTIALS_MISSING'],
      [['send', '-a', secured.url, '--bearer', 'wrong-token', 'x'], 'A2ACLI_ERR_AUTH_FAILED'],
      [['send', '-a', agent.url, '--timeout', '300ms', 'hold never'], 'A2ACLI_ERR_TIMEOUT'],
    ] as const
    for (const [command, code] of cases) {
      const local = Object.entries(exitCodeOf).find(([name]) => name === code)
      const exit = code === undefined ? 0 : (local?.[1] ?? 1)
      const run = await bench.a2a([...command, '-o', 'json'], {
        exit,
        shows: code === undefined ? 'succeeds' : `reports ${code}`,
      })
      if (code !== undefined) assert.equal(run.json<JsonError>().error.code, code)
    }
  },

  async A2ACLI_EXIT_002(bench) {
    const agent = await bench.agent()
    for (const [text, state] of [
      ['fail', 'TASK_STATE_FAILED'],
      ['reject', 'TASK_STATE_REJECTED'],
      ['input', 'TASK_STATE_INPUT_REQUIRED'],
      ['auth', 'TASK_STATE_AUTH_REQUIRED'],
    ] as const) {
      const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', text], {
        shows: `reports ${state} in the task and warns of it on stderr`,
      })
      assert.equal(run.json<{ task: JsonTask }>().task.status.state, state)
      assert.ok(run.stderr.includes(state) || run.stderr.includes(state.replace('TASK_STATE_', '')), run.stderr)
    }
  },

  async A2ACLI_OUT_007(bench) {
    const agent = await bench.agent()
    const quiet = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'complete'], {
      shows: 'logs no messages without --debug',
    })
    assert.doesNotMatch(quiet.stderr, /messageId/)
    const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--debug', 'complete'], {
      shows: 'logs the raw requests and responses on stderr',
    })
    for (const word of [/SendStreamingMessage|SendMessage/, /"?messageId"?/, /TASK_STATE_COMPLETED/])
      assert.match(run.stderr, word)
    assert.deepEqual(Object.keys(run.json()), ['task'])
  },
}
