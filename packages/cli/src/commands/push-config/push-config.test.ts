/** The commands of `task push-config` against a real agent that delivers. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve, type ServeOptions } from '@parley/a2a/node'
import { runA2a } from '../../run.ts'
import { createMemoryTerminal, runInMemory } from '../../testing/memory-terminal.ts'

const closing: (() => unknown)[] = []
after(() => Promise.all(closing.map((close) => close())))

async function start(over: { readonly push?: undefined } = {}) {
  const finish = Promise.withResolvers<void>()
  closing.push(() => finish.resolve())
  const server = await serve({
    name: 'Slow',
    port: 0,
    store: memoryStore(),
    quiet: true,
    push: { allow: ['127.0.0.1'] },
    async *agent() {
      yield 'working on it'
      await finish.promise
      yield ', done'
    },
    ...over,
  } as ServeOptions)
  closing.push(() => server.close())
  const agent = await connect(server.url)
  const { id } = await agent.start('go')
  const run = (...args: string[]) => runInMemory(['task', 'push-config', ...args, '-a', server.url])
  return { server, agent, taskId: id, run, finish: () => finish.resolve() }
}

describe('push notification configs', () => {
  it('are created, shown, listed and deleted', async () => {
    const { taskId, run } = await start()
    const given = [
      '--url',
      'http://127.0.0.1:9/hook',
      '--id',
      'c1',
      '--token',
      'secret-token',
      '--auth-scheme',
      'Bearer',
      '--auth-credentials',
      'secret-key',
    ]
    const created = await run('create', taskId, ...given)
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stdout, new RegExp(`^Task ID: ${taskId}\nConfig ID: c1\nURL: http://127.0.0.1:9/hook\n`))
    assert.doesNotMatch(created.stdout, /secret/)
    const shown = JSON.parse((await run('get', taskId, 'c1', '-o', 'json')).stdout)
    assert.deepEqual([shown.id, shown.taskId, shown.url], ['c1', taskId, 'http://127.0.0.1:9/hook'])
    const other = await run('create', taskId, '--url', '127.0.0.1:9/other', '--id', 'c2')
    assert.match(other.stdout, /^URL: http:\/\/127\.0\.0\.1:9\/other$/m)
    const listed = JSON.parse((await run('list', taskId, '-o', 'json')).stdout)
    assert.deepEqual(
      listed.configs.map(({ id }: { id: string }) => id),
      ['c1', 'c2'],
    )
    const lines = (await run('list', taskId, '-o', 'json', '--stream')).stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      ['c1', 'c2'],
    )
    assert.deepEqual(JSON.parse((await run('delete', taskId, 'c1', '-o', 'json')).stdout), {
      deleted: true,
      taskId,
      id: 'c1',
    })
    assert.match((await run('list', taskId)).stdout, /^Configs: 1\n/)
    const gone = await run('get', taskId, 'c1', '-o', 'json')
    assert.equal(gone.code, 1)
  })

  it('are refused before a call if the card does not offer them', async () => {
    const { taskId, run } = await start({ push: undefined })
    const refused = await run('create', taskId, '--url', 'https://x.example', '-o', 'json')
    assert.equal(refused.code, 1)
    assert.equal(JSON.parse(refused.stdout).error.code, 'PushNotificationNotSupportedError')
  })

  it('need a URL, and a scheme for credentials', async () => {
    const { taskId, run } = await start()
    assert.equal((await run('create', taskId)).code, 2)
    assert.equal((await run('create', taskId, '--url', 'no url')).code, 2)
    assert.equal((await run('create', taskId, '--url', 'https://x.example', '--auth-credentials', 'x')).code, 2)
  })
})

describe('the receiver of notifications', () => {
  it('registers itself, prints every event as a line, and removes itself when the task has ended', async () => {
    const { agent, server, taskId, finish } = await start()
    const terminal = createMemoryTerminal()
    const ended = runA2a(['task', 'push-config', 'listen', taskId, '-a', server.url, '-o', 'json'], terminal)
    await terminal.untilError('Listening on http://127.0.0.1:')
    assert.equal((await agent.push.list(taskId)).configs.length, 1)
    finish()
    assert.equal(await ended, 0, terminal.stderr)
    const events = terminal.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(
      events.every((event) => Object.keys(event).length === 1),
      true,
    )
    assert.equal((await agent.push.list(taskId)).configs.length, 0)
  })

  it('shows a task that has ended already', async () => {
    const { agent, server, taskId, finish } = await start()
    finish()
    await agent.wait(taskId)
    const shown = await runInMemory(['task', 'push-config', 'listen', taskId, '-a', server.url])
    assert.equal(shown.code, 0, shown.stderr)
    assert.match(shown.stdout, /State: TASK_STATE_COMPLETED/)
  })

  it('refuses notifications without its token, and stops at Ctrl-C', async () => {
    const terminal = createMemoryTerminal()
    const ended = runA2a(['task', 'push-config', 'listen', '--token', 'right-token', '-o', 'json'], terminal)
    await terminal.untilError('Listening on ')
    const [url = ''] = /http:\S+/.exec(terminal.stderr) ?? []
    const event = { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }
    const post = (token: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-a2a-notification-token': token, 'a2a-version': '1.0' },
        body: JSON.stringify(event),
      })
    assert.equal((await post('wrong-token')).status, 401)
    assert.equal((await post('right-token')).status, 204)
    assert.deepEqual(JSON.parse(terminal.stdout), event)
    terminal.interrupt()
    assert.equal(await ended, 0)
  })
})
