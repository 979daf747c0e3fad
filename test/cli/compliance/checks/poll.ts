/** Checks of waiting and polling: intervals, time limits, interrupts, interrupted states, failing streams. */
import assert from 'node:assert/strict'
import type { FixtureAgent } from '../../fixture/fixture-agent.ts'
import type { RunningProgram } from '../../program/a2a-program.ts'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

const isGet = (body: string): boolean => body.includes('"GetTask"')

export const pollChecks: Checks = {
  async A2ACLI_TASK_POLL_001(bench) {
    const agent = await bench.agent({ settings: { streaming: false } })
    const { id } = await startTask(bench, agent, 'hold poll-001')
    const once = await bench.a2a(['task', 'get', id, '-a', agent.url, '-o', 'json'], {
      shows: 'reads the task once, while it works',
    })
    assert.equal(once.json<JsonTask>().status.state, 'TASK_STATE_WORKING')
    assert.equal(agent.sent('GetTask').length, 1)
    for (const flag of ['--wait', '--watch']) {
      const task = await startTask(bench, agent, `hold poll-001${flag}`)
      const running = await bench.start([
        'task',
        'get',
        task.id,
        '-a',
        agent.url,
        '-o',
        'json',
        flag,
        '--poll-interval',
        '20ms',
      ])
      await secondGet(agent, task.id, running)
      agent.gates.open(`poll-001${flag}`)
      const run = await bench.finish(running, { shows: 'polls until the task has ended' })
      assert.equal(run.json<JsonTask>().status.state, 'TASK_STATE_COMPLETED')
    }
  },

  async A2ACLI_TASK_POLL_002(bench) {
    const agent = await bench.agent({ settings: { streaming: false } })
    const gone = await bench.a2a(
      ['send', '-a', agent.url, '-o', 'json', '--timeout', '3s', '--poll-interval', '500ms', 'hold never'],
      {
        exit: 5,
        shows: 'gives up at --timeout and names the task in the error',
      },
    )
    const { error } = gone.json<JsonError>()
    assert.equal(error.code, 'A2ACLI_ERR_TIMEOUT')
    assert.match(`${error.message} ${error.hint}`, /[0-9a-f-]{36}/)
    const asked = agent.sent('GetTask').length
    assert.ok(asked <= 7, `at most one read per interval: ${asked}`)
    const running = await bench.start(['send', '-a', agent.url, '--poll-interval', '20ms', 'hold poll-002'])
    const [id = ''] = await running.waitFor('stderr', /[0-9a-f]{8}-[0-9a-f-]{27}/)
    running.kill('SIGINT')
    const run = await bench.finish(running, {
      exit: 130,
      shows: 'detaches at Ctrl-C: the id is printed, and how to resume',
    })
    assert.ok(run.stderr.includes(id))
    assert.match(run.stderr, /a2a task (get|subscribe)/)
    const kept = await (await bench.start(['task', 'get', id, '-a', agent.url, '-o', 'json'])).ended
    assert.equal(kept.json<JsonTask>().status.state, 'TASK_STATE_WORKING', 'the task continues')
    const wrong = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--timeout', 'soon', 'x'], {
      exit: 2,
      shows: 'refuses a duration that it cannot read',
    })
    assert.equal(wrong.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
  },

  async A2ACLI_TASK_POLL_003(bench) {
    const agent = await bench.agent({ settings: { streaming: false } })
    for (const [text, state] of [
      ['input', 'TASK_STATE_INPUT_REQUIRED'],
      ['auth', 'TASK_STATE_AUTH_REQUIRED'],
    ] as const) {
      const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', text], { shows: `stops waiting at ${state}` })
      const { task } = run.json<{ task: JsonTask }>()
      assert.equal(task.status.state, state)
      const again = await bench.a2a(['task', 'get', task.id, '-a', agent.url, '-o', 'json', '--wait'], {
        shows: 'returns at once for such a task',
      })
      assert.equal(again.json<JsonTask>().status.state, state)
    }
    const vague = await bench.agent({ settings: { streaming: false } })
    vague.server.rules.push(() => ({
      rewrite: (text) => text.replaceAll('TASK_STATE_WORKING', 'TASK_STATE_UNSPECIFIED'),
    }))
    const held = await startTask(bench, vague, 'hold poll-003')
    const shown = await bench.a2a(['task', 'get', held.id, '-a', vague.url], {
      shows: 'reports UNSPECIFIED as it was received',
    })
    assert.equal(shown.values('State').at(-1), 'TASK_STATE_UNSPECIFIED')
    const running = await bench.start([
      'task',
      'get',
      held.id,
      '-a',
      vague.url,
      '-o',
      'json',
      '--wait',
      '--poll-interval',
      '20ms',
    ])
    await secondGet(vague, held.id, running)
    vague.gates.open('poll-003')
    const run = await bench.finish(running, { shows: 'keeps polling through UNSPECIFIED until the task has ended' })
    assert.equal(run.json<JsonTask>().status.state, 'TASK_STATE_COMPLETED')
  },

  async A2ACLI_TASK_POLL_004(bench) {
    const agent = await bench.agent()
    agent.server.rules.push(({ body }) => {
      const error = { code: -32_601, message: 'Method not found' }
      if (body.includes('"SubscribeToTask"')) return { answer: Response.json({ jsonrpc: '2.0', id: 1, error }) }
      return body.includes('"SendStreamingMessage"') ? { cutAfterEvents: 1 } : undefined
    })
    const polled = Promise.withResolvers<void>()
    agent.server.rules.unshift(({ body }) => {
      if (isGet(body)) polled.resolve()
      return undefined
    })
    const running = await bench.start([
      'send',
      '-a',
      agent.url,
      '-o',
      'json',
      '--poll-interval',
      '20ms',
      'hold poll-004',
    ])
    await Promise.race([polled.promise, running.ended])
    agent.gates.open('poll-004')
    const run = await bench.finish(running, {
      shows: 'polls to the end after its stream was cut and could not be resumed',
    })
    assert.equal(run.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
    const asked = await finishedTask(bench, agent, 'input')
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
  },
}

/** Resolves when the program has read the task twice: it polls. Also if it ended, so that the check fails and does not hang. */
async function secondGet(agent: FixtureAgent, id: string, { ended }: RunningProgram): Promise<void> {
  const polled = Promise.withResolvers<void>()
  let count = agent.server.requests.filter(({ body }) => isGet(body) && body.includes(id)).length
  const check = (): void => {
    if (count >= 2) polled.resolve()
  }
  agent.server.rules.unshift(({ body }) => {
    if (isGet(body) && body.includes(id)) count += 1
    check()
    return undefined
  })
  check()
  await Promise.race([polled.promise, ended])
}
