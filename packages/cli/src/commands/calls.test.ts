/** The commands over three bindings and two versions: the output is the same, byte for byte, except ids and times. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveDemoAgent } from '../testing/demo-agent.ts'
import { runInMemory } from '../testing/memory-terminal.ts'

const server = await serveDemoAgent()

const run = (...args: readonly string[]) => runInMemory([...args, '-a', server.url])

/** Each id by the order of its appearance. */
function normalized(text: string): string {
  const ids: string[] = []
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => {
      if (!ids.includes(id)) ids.push(id)
      return `id${ids.indexOf(id) + 1}`
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

interface JsonTask {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly unknown[] }[]
  readonly history?: readonly unknown[]
}
const json = (text: string) => JSON.parse(text) as { readonly task: JsonTask } & JsonTask

const bindings = ['jsonrpc', 'rest', 'grpc'] as const
const versions = ['1.0', '0.3'] as const

async function sameEverywhere(
  args: readonly string[],
  skip: (version: string, binding: string) => boolean = () => false,
): Promise<string> {
  const outputs = new Map<string, string>()
  for (const version of versions)
    for (const binding of bindings) {
      if (skip(version, binding)) continue
      const { code, stdout, stderr } = await run(...args, '--transport', binding, '--a2a-version', version)
      assert.equal(code, 0, `${binding} ${version}: ${stdout}${stderr}`)
      // The commands that it prints name the binding and the version.
      const plain = stdout.replaceAll(` --transport ${binding} --a2a-version ${version}`, '')
      outputs.set(`${binding} ${version}`, normalized(plain))
    }
  const [first] = outputs.values()
  for (const [where, output] of outputs) assert.equal(output, first, where)
  return first ?? ''
}

describe('the output of a command, over every binding and version', () => {
  it('of send is the task, in both formats', async () => {
    const { task } = json(await sameEverywhere(['send', 'you', '-o', 'json']))
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(task.artifacts?.[0]?.parts, [{ text: 'Hello, you!' }])
    assert.equal(JSON.stringify(task).includes('"kind"'), false)
    assert.match(await sameEverywhere(['send', 'you']), /^Task ID: id1\nContext ID: id2\nState: TASK_STATE_COMPLETED\n/)
  })

  it('of send is the direct message', async () => {
    const text = await sameEverywhere(['send', 'message', '-o', 'json'])
    assert.deepEqual(Object.keys(JSON.parse(text) as object), ['message'])
    assert.match(await sameEverywhere(['send', 'message']), /Message: ROLE_AGENT\nText: A direct answer\n$/)
  })

  it('of a stream is one event per line, the last with the final state', async () => {
    const lines = (await sameEverywhere(['send', 'parts', '-o', 'json', '--stream'])).trimEnd().split('\n')
    for (const line of lines) assert.equal(Object.keys(JSON.parse(line) as object).length, 1)
    assert.match(lines.at(-1) ?? '', /^\{"statusUpdate":.*"TASK_STATE_COMPLETED"/)
    const text = await sameEverywhere(['send', 'parts', '--stream'])
    assert.match(text, /File: \.\.\/\.\.\/chart\.png \(image\/png, 3 B\)\n/)
    assert.match(text, /Task ID: id1\nContext ID: id2\nState: TASK_STATE_COMPLETED\n$/)
  })

  it('of task get and task cancel is the bare task', async () => {
    const { task } = json((await run('send', 'parts', '-o', 'json')).stdout)
    const got = json(await sameEverywhere(['task', 'get', task.id, '-o', 'json']))
    assert.equal(got.artifacts?.length, 2)
    assert.equal((await run('task', 'get', task.id, '-o', 'json', '--history', '0')).stdout.includes('history'), false)
    const { task: held } = json((await run('send', 'hold cancel', '-o', 'json', '--async')).stdout)
    await server.gates.reached('cancel')
    // Canceling again repeats the answer, also where the agent refuses it.
    assert.equal(
      json(await sameEverywhere(['task', 'cancel', held.id, '-o', 'json'])).status.state,
      'TASK_STATE_CANCELED',
    )
  })

  it('of task list is a page, or one task per line', async () => {
    const without03 = (version: string) => version === '0.3'
    const page = await sameEverywhere(['task', 'list', '-o', 'json', '--page-size', '2'], without03)
    const { tasks, nextPageToken } = JSON.parse(page) as { tasks: JsonTask[]; nextPageToken: string }
    assert.equal(tasks.length, 2)
    assert.notEqual(nextPageToken, '')
    const all = await run('task', 'list', '-o', 'json', '--stream', '--all', '--page-size', '2')
    const lines = all.stdout.trimEnd().split('\n')
    assert.ok(lines.length > 2)
    assert.ok(lines.every((line) => typeof (JSON.parse(line) as JsonTask).id === 'string'))
    const completed = await run('task', 'list', '--status', 'completed', '--page-size', '1')
    assert.match(completed.stdout, /State: TASK_STATE_COMPLETED\nTotal: \d+\nNext Page Token: /)
    assert.equal((await run('task', 'list', '--status', 'bored')).code, 2)
  })
})

describe('an error of the protocol', () => {
  it('has the same name over every binding and version, and the code of the wire', async () => {
    const codes = new Set<unknown>()
    for (const version of versions)
      for (const binding of bindings) {
        const options = ['--transport', binding, '--a2a-version', version, '-o', 'json']
        const { code, stdout } = await run('task', 'get', 'no-such-task', ...options)
        const { error } = JSON.parse(stdout) as { error: { code: string; a2aCode: unknown } }
        assert.deepEqual([code, error.code], [1, 'TaskNotFoundError'], `${binding} ${version}`)
        codes.add(error.a2aCode)
      }
    assert.ok(codes.has(-32001) && codes.has('TASK_NOT_FOUND'), JSON.stringify([...codes]))
  })

  it('names the ids that the agent rejected, and nothing is sent again', async () => {
    const ended = json((await run('send', 'x', '-o', 'json')).stdout).task.id
    for (const [id, name, expected] of [
      ['no-such-task', 'TaskNotFoundError', /--task-id.*--debug/],
      [ended, 'UnsupportedOperationError', /--context-id/],
    ] as const) {
      const { code, stdout } = await run('send', '--task-id', id, 'x', '-o', 'json')
      const { error } = JSON.parse(stdout) as { error: { code: string; hint: string } }
      assert.deepEqual([code, error.code], [1, name])
      assert.match(error.hint, expected)
    }
  })
})

describe('the states that end a turn', () => {
  it('are reported with exit code 0 and a warning', async () => {
    for (const [text, state] of [
      ['fail', 'FAILED'],
      ['reject', 'REJECTED'],
      ['input', 'INPUT_REQUIRED'],
    ] as const) {
      const { code, stdout, stderr } = await run('send', text, '-o', 'json')
      assert.equal(code, 0)
      assert.equal(json(stdout).task.status.state, `TASK_STATE_${state}`)
      assert.match(stderr, new RegExp(`Warning: .*${state}`))
    }
  })

  it('print the command that answers a question, which continues the task', async () => {
    const asked = await run('send', 'input')
    const [, id] = /Task ID: (.*)/.exec(asked.stdout) ?? []
    const [, resume = ''] = /Resume: (.*)/.exec(asked.stdout) ?? []
    assert.equal(resume, `a2a send -a ${server.url} --task-id ${id} "<reply>"`)
    const answered = await runInMemory([...resume.split(' ').slice(1, -1), 'Oslo', '-o', 'json'])
    assert.deepEqual(
      [json(answered.stdout).task.id, json(answered.stdout).task.status.state],
      [id, 'TASK_STATE_COMPLETED'],
    )
    const streamed = await run('send', 'input', '--stream')
    assert.equal(streamed.stdout.match(/^Resume: /gm)?.length, 1)
  })
})

describe('the log of --debug', () => {
  it('shows calls over gRPC too', async () => {
    const { stderr, stdout } = await run('send', 'you', '-o', 'json', '--debug', '--transport', 'grpc')
    assert.equal(json(stdout).task.status.state, 'TASK_STATE_COMPLETED')
    for (const shown of [/using GRPC of A2A 1\.0 at/, /> \{.*"messageId"/, /< \{.*TASK_STATE_COMPLETED/])
      assert.match(stderr, shown)
    const quiet = await run('send', 'you', '-o', 'json', '--transport', 'grpc')
    assert.doesNotMatch(quiet.stderr, /messageId/)
  })
})
