/** Checks of the `task` commands: get, cancel, list, subscribe, download and push-config. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileBytes } from '../../fixture/script.ts'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

interface TaskPage {
  readonly tasks: readonly JsonTask[]
  readonly nextPageToken: string
}

export const taskChecks: Checks = {
  async A2ACLI_TASK_GET_001(bench) {
    const agent = await bench.agent()
    const { id, contextId } = await finishedTask(bench, agent, 'parts')
    const text = await bench.a2a(['task', 'get', id, '-a', agent.url], { shows: 'shows ids, state and every artifact' })
    assert.deepEqual(
      [
        text.values('Task ID')[0],
        text.values('Context ID')[0],
        text.values('State')[0],
        text.values('Artifact').length,
      ],
      [id, contextId, 'TASK_STATE_COMPLETED', 2],
    )
    const json = await bench.a2a(['task', 'get', id, '-a', agent.url, '-o', 'json'], { shows: 'prints the bare Task' })
    assert.equal(json.json<JsonTask>().id, id)
    assert.equal(json.json<JsonTask>().artifacts?.length, 2)
    const history = await bench.a2a(['task', 'get', id, '-a', agent.url, '-o', 'json', '--history', '1'], {
      shows: 'asks for history with historyLength',
    })
    assert.equal(history.json<JsonTask>().history?.length, 1)
    assert.equal(agent.sent('GetTask').at(-1)?.params['historyLength'], 1)
    const unknown = await bench.a2a(['task', 'get', 'no-such-task', '-a', agent.url, '-o', 'json'], {
      exit: 1,
      shows: 'reports TaskNotFoundError',
    })
    assert.equal(unknown.json<JsonError>().error.code, 'TaskNotFoundError')
  },

  async A2ACLI_TASK_CANCEL_001(bench) {
    const agent = await bench.agent()
    const { id } = await startTask(bench, agent, 'hold cancel-001')
    const first = await bench.a2a(['task', 'cancel', id, '-a', agent.url], { shows: 'reports the resulting state' })
    assert.equal(first.values('State').at(-1), 'TASK_STATE_CANCELED')
    assert.equal(first.values('Task ID')[0], id)
    const again = await (await bench.start(['task', 'cancel', id, '-a', agent.url, '-o', 'json'])).ended
    if (again.code === 0) assert.equal(again.json<JsonTask>().status.state, 'TASK_STATE_CANCELED')
    else assert.equal(again.json<JsonError>().error.code, 'TaskNotCancelableError')
    const done = await finishedTask(bench, agent, 'complete')
    const refused = await bench.a2a(['task', 'cancel', done.id, '-a', agent.url, '-o', 'json'], {
      exit: 1,
      shows: 'reports TaskNotCancelableError for a task that has ended',
    })
    assert.equal(refused.json<JsonError>().error.code, 'TaskNotCancelableError')
  },

  async A2ACLI_TASK_LIST_001(bench) {
    const agent = await bench.agent()
    const first = await finishedTask(bench, agent, 'complete')
    await finishedTask(bench, agent, 'input')
    await finishedTask(bench, agent, 'complete')
    const page = await bench.a2a(['task', 'list', '-a', agent.url, '-o', 'json', '--page-size', '2'], {
      shows: 'prints a page with the token of the next',
    })
    const { tasks, nextPageToken } = page.json<TaskPage>()
    assert.equal(tasks.length, 2)
    assert.notEqual(nextPageToken, '')
    const rest = await bench.a2a(
      ['task', 'list', '-a', agent.url, '-o', 'json', '--limit', '2', '--page-token', nextPageToken],
      {
        shows: 'continues at the token',
      },
    )
    const ids = [...tasks, ...rest.json<TaskPage>().tasks].map(({ id }) => id)
    assert.equal(new Set(ids).size, 3)
    for (const status of ['input-required', 'TASK_STATE_INPUT_REQUIRED']) {
      const run = await bench.a2a(['task', 'list', '-a', agent.url, '-o', 'json', '--status', status], {
        shows: 'filters by state, in its short and its wire form',
      })
      assert.deepEqual(
        run.json<TaskPage>().tasks.map((task) => task.status.state),
        ['TASK_STATE_INPUT_REQUIRED'],
      )
    }
    const inContext = await bench.a2a(
      ['task', 'list', '-a', agent.url, '-o', 'json', '--context-id', first.contextId],
      {
        shows: 'filters by context',
      },
    )
    assert.deepEqual(
      inContext.json<TaskPage>().tasks.map(({ id }) => id),
      [first.id],
    )
    const text = await bench.a2a(['task', 'list', '-a', agent.url, '--page-size', '1'], {
      shows: 'names task, context and state of each in text, and the next page',
    })
    for (const label of ['Task ID', 'Context ID', 'State']) assert.equal(text.values(label).length, 1)
    assert.match(text.stdout + text.stderr, /page-token|Next page/i)
    const lines = await bench.a2a(['task', 'list', '-a', agent.url, '-o', 'json', '--stream'], {
      shows: 'prints one Task per line',
    })
    assert.equal(lines.lines<JsonTask>().length, 3)
  },

  async A2ACLI_TASK_SUBSCRIBE_001(bench) {
    const agent = await bench.agent()
    const { id } = await startTask(bench, agent, 'hold subscribe-001')
    const running = await bench.start(['task', 'subscribe', id, '-a', agent.url, '-o', 'json', '--stream'])
    await running.waitFor('stdout', /\n/)
    agent.gates.open('subscribe-001')
    const run = await bench.finish(running, { shows: 'prints the task and then its events as StreamResponse lines' })
    const lines = run.lines()
    assert.deepEqual(Object.keys(lines[0] ?? {}), ['task'])
    assert.match(JSON.stringify(lines.at(-1)), /TASK_STATE_COMPLETED/)
    const second = await startTask(bench, agent, 'hold subscribe-001b')
    const single = await bench.start(['task', 'subscribe', second.id, '-a', agent.url, '-o', 'json'])
    await single.waitFor('stderr', new RegExp(second.id))
    agent.gates.open('subscribe-001b')
    const one = await single.ended
    assert.equal(one.code, 0, one.stdout + one.stderr)
    assert.equal(one.json<JsonTask>().status.state, 'TASK_STATE_COMPLETED')
    const over = await bench.a2a(['task', 'subscribe', id, '-a', agent.url, '-o', 'json'], {
      exit: 1,
      shows: 'reports UnsupportedOperationError for a task that has ended, with a hint to task get',
    })
    const { error } = over.json<JsonError>()
    assert.equal(error.code, 'UnsupportedOperationError')
    assert.match(error.hint ?? '', /task get/)
  },

  async A2ACLI_TASK_SUBSCRIBE_002(bench) {
    const agent = await bench.agent()
    const { id } = await startTask(bench, agent, 'hold subscribe-002')
    let cuts = 0
    agent.server.rules.push(({ body }) => {
      if (!body.includes('"SubscribeToTask"') || cuts === 1) return undefined
      cuts += 1
      return { cutAfterEvents: 1 }
    })
    const gets = agent.sent('GetTask').length
    const running = await bench.start(['task', 'subscribe', id, '-a', agent.url, '-o', 'json', '--stream'])
    await running.waitFor('stdout', /\n/)
    const reconnected = Promise.withResolvers<void>()
    agent.server.rules.unshift(({ body }) => {
      if (cuts === 1 && body.includes('"SubscribeToTask"')) reconnected.resolve()
      return undefined
    })
    await Promise.race([reconnected.promise, running.ended])
    agent.gates.open('subscribe-002')
    const run = await bench.finish(running, {
      shows: 'subscribes again after the connection was cut and ends with the final event, without a GetTask between',
    })
    assert.match(JSON.stringify(run.lines().at(-1)), /TASK_STATE_COMPLETED/)
    assert.equal(run.stdout.match(/after the gate/g)?.length, 1, 'no event is printed twice')
    assert.equal(agent.sent('GetTask').length, gets)
  },

  async A2ACLI_DOWNLOAD_001(bench) {
    const agent = await bench.agent()
    const { id } = await finishedTask(bench, agent, 'parts')
    await bench.a2a(['task', 'download', id, '-a', agent.url, '--dir', 'out'], {
      shows: 'writes the files of the artifacts to a folder',
    })
    const names = await readdir(join(bench.folder, 'out'), { recursive: true })
    const chart = names.find((name) => name.endsWith('chart.png')) ?? ''
    assert.deepEqual(new Uint8Array(await readFile(join(bench.folder, 'out', chart))), fileBytes)
    await writeFile(join(bench.folder, 'out', chart), 'mine')
    await bench.start(['task', 'download', id, '-a', agent.url, '--dir', 'out']).then(({ ended }) => ended)
    assert.equal(
      await readFile(join(bench.folder, 'out', chart), 'utf8'),
      'mine',
      'a file is not overwritten without a flag',
    )
    const evil = await bench.agent()
    evil.server.rules.push(() => ({ rewrite: (text) => text.replaceAll('chart.png', '../../escaped.png') }))
    const escaping = await finishedTask(bench, evil, 'parts')
    await bench.a2a(['task', 'download', escaping.id, '-a', evil.url, '--dir', 'safe'], {
      shows: 'keeps a name with .. inside the folder',
    })
    const kept = await readdir(bench.folder, { recursive: true })
    assert.ok(kept.filter((name) => name.includes('escaped')).every((name) => name.startsWith('safe/')))
  },

  async A2ACLI_PUSH_001(bench) {
    const agent = await bench.agent()
    const { id } = await startTask(bench, agent, 'hold push-001')
    const url = 'http://127.0.0.1:9/hook'
    const base = ['-a', agent.url, '-o', 'json'] as const
    const created = await bench.a2a(
      ['task', 'push-config', 'create', id, ...base, '--url', url, '--token', 'hook-t0ken', '--id', 'mine'],
      { shows: 'creates a config and prints it' },
    )
    assert.match(created.stdout, /"url":\s*"http:\/\/127\.0\.0\.1:9\/hook"/)
    const got = await bench.a2a(['task', 'push-config', 'get', id, 'mine', ...base], { shows: 'reads it' })
    assert.match(got.stdout, /9\/hook/)
    const text = await bench.a2a(['task', 'push-config', 'get', id, 'mine', '-a', agent.url], {
      shows: 'redacts its token in text',
    })
    assert.doesNotMatch(text.stdout + text.stderr, /hook-t0ken/)
    const listed = await bench.a2a(['task', 'push-config', 'list', id, ...base], { shows: 'lists it' })
    assert.match(listed.stdout, /mine/)
    await bench.a2a(['task', 'push-config', 'delete', id, 'mine', ...base], { shows: 'deletes it' })
    const after = await bench.a2a(['task', 'push-config', 'list', id, ...base], { shows: 'is empty then' })
    assert.doesNotMatch(after.stdout, /mine/)
  },
}
