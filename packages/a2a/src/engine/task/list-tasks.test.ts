import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { inputRequired } from '../../agents/reports.ts'
import type { ListTasksRequest } from '../../model/operation.ts'
import { aliceContext, openTestEngine, short, type TestEngine } from '../../testing/fixtures/test-engine.ts'
import type { CallContext } from '../contract.ts'

const agent: Agent = ({ text }) => (text === 'ask' ? inputRequired('?') : `did ${text}`)

/** An engine whose clock advances by a second with each task, with the requested number of tasks. */
async function engineWithTasks(t: TestContext, texts: readonly string[], contextId?: string): Promise<TestEngine> {
  let now = Date.UTC(2030, 0, 1)
  const testEngine = await openTestEngine(t, agent, { now: () => now })
  for (const text of texts) {
    now += 1_000
    await testEngine.task({ parts: [{ text }], ...(contextId !== undefined ? { contextId } : {}) })
  }
  return testEngine
}
const list = (testEngine: TestEngine, request: ListTasksRequest = {}, as: Partial<CallContext> = {}) =>
  testEngine.engine.listTasks(request, { ...aliceContext, ...as })

describe('a list of tasks', () => {
  it('has only the tasks of its caller [B-77]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'two'])
    await testEngine.task('mine', { as: { caller: { id: 'bob' } } })
    await testEngine.task('elsewhere', { as: { agent: 'another' } })
    await testEngine.task('elsewhere', { as: { tenant: 'acme' } })
    const page = await list(testEngine)
    assert.equal(page.totalSize, 2)
    assert.deepEqual(
      page.tasks.map((task) => task.history?.[0]?.parts),
      [[{ text: 'two' }], [{ text: 'one' }]],
    )
    assert.equal((await list(testEngine, {}, { caller: { id: 'bob' } })).totalSize, 1)
    assert.equal((await list(testEngine, {}, { caller: { id: 'carol' } })).totalSize, 0)
  })

  it('ends a page of large tasks early, and continues with the next', async (t) => {
    const long = 'x'.repeat(400_000)
    const testEngine = await engineWithTasks(t, ['one', `two ${long}`, `three ${long}`, `four ${long}`, 'five'])
    const first = await list(testEngine)
    const second = await list(testEngine, { pageToken: first.nextPageToken })
    assert.deepEqual([first.tasks.length, second.tasks.length], [4, 1])
    assert.equal(second.nextPageToken, '')
    assert.equal(new Set([...first.tasks, ...second.tasks].map(({ id }) => id)).size, 5)
  })

  it('requires permission to list, before any lookup [B-77]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one'])
    await assert.rejects(list(testEngine, {}, { canListTasks: false }), { code: 'PERMISSION_DENIED' })
  })

  it('has the newest status first, whenever the task began [B-78]', async (t) => {
    const testEngine = await engineWithTasks(t, ['ask', 'one', 'two'])
    const waiting = (await list(testEngine, { status: 'TASK_STATE_INPUT_REQUIRED' })).tasks[0]
    assert.equal((await list(testEngine)).tasks.at(-1)?.id, waiting?.id)
    await testEngine.task({ taskId: waiting?.id ?? '', parts: [{ text: 'go' }] })
    const times = (await list(testEngine)).tasks.map((task) => task.status.timestamp ?? '')
    assert.deepEqual(times, [...times].sort().reverse())
  })

  it('is read page by page: each task once, in order, until the token is empty [B-79 B-84]', async (t) => {
    const testEngine = await engineWithTasks(
      t,
      Array.from({ length: 7 }, (_, index) => `${index}`),
    )
    const whole = (await list(testEngine)).tasks.map(({ id }) => id)
    const seen: string[] = []
    let pageToken = ''
    for (let page = 0; page < 4; page += 1) {
      const answer = await list(testEngine, { pageSize: 2, pageToken })
      seen.push(...answer.tasks.map(({ id }) => id))
      pageToken = answer.nextPageToken
      assert.equal(pageToken === '', page === 3)
    }
    assert.deepEqual(seen, whole)
  })

  it('reports that a full last page is the last [B-84]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'two'])
    assert.equal((await list(testEngine, { pageSize: 2 })).nextPageToken, '')
    assert.equal((await list(testEngine)).nextPageToken, '')
  })

  it('has 50 tasks a page by default [B-80]', async (t) => {
    const testEngine = await engineWithTasks(
      t,
      Array.from({ length: 51 }, (_, index) => `${index}`),
    )
    const page = await list(testEngine)
    assert.equal(page.tasks.length, 50)
    assert.equal(page.pageSize, 50)
    assert.equal(page.totalSize, 51)
  })

  it('refuses a token that was changed, or that belongs to another list [B-81]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'two', 'three'], 'c')
    const { nextPageToken: token } = await list(testEngine, { pageSize: 1 })
    assert.equal((await list(testEngine, { pageSize: 1, pageToken: token })).tasks.length, 1)
    const [at = '', id = '', ...rest] = token.split('.')
    const signature = rest.join('.')
    const others: readonly [string, ListTasksRequest, Partial<CallContext>][] = [
      ['garbage', {}, {}],
      ['a.b.c', {}, {}],
      [`${at}x.${id}.${signature}`, {}, {}],
      [`${at}.${id}.${signature.slice(0, -2)}`, {}, {}],
      [token, { contextId: 'c' }, {}],
      [token, { status: 'TASK_STATE_COMPLETED' }, {}],
      [token, {}, { caller: { id: 'bob' } }],
      [token, {}, { tenant: 'acme' }],
    ]
    for (const [pageToken, request, as] of others) {
      await assert.rejects(list(testEngine, { ...request, pageToken }, as), {
        code: 'INVALID_PARAMS',
        message: /pageToken/,
      })
    }
  })

  it('continues even if the task of the token has changed since [B-79]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'ask', 'three'])
    const first = await list(testEngine, { pageSize: 2 })
    const [, asked] = first.tasks
    await testEngine.task({ taskId: asked?.id ?? '', parts: [{ text: 'go' }] })
    const rest = await list(testEngine, { pageSize: 2, pageToken: first.nextPageToken })
    assert.deepEqual(
      rest.tasks.map((task) => task.history?.[0]?.parts),
      [[{ text: 'one' }]],
    )
  })

  it('filters by context, state and time, combined, and counts all matches [B-82 B-85]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'ask', 'three', 'four'], 'c')
    await testEngine.task({ contextId: 'd', parts: [{ text: 'five' }] })
    const states = async (request: ListTasksRequest) => {
      const page = await list(testEngine, request)
      assert.equal(page.totalSize, page.tasks.length)
      return page.tasks.map((task) => short(task.status.state))
    }
    assert.deepEqual(await states({ contextId: 'c' }), ['COMPLETED', 'COMPLETED', 'INPUT_REQUIRED', 'COMPLETED'])
    assert.deepEqual(await states({ status: 'TASK_STATE_INPUT_REQUIRED' }), ['INPUT_REQUIRED'])
    assert.deepEqual(await states({ contextId: 'd', status: 'TASK_STATE_INPUT_REQUIRED' }), [])
    // The time of the third task, inclusive.
    assert.equal((await states({ contextId: 'c', statusTimestampAfter: '2030-01-01T00:00:03.000Z' })).length, 2)
    assert.equal((await states({ contextId: 'c', statusTimestampAfter: '2030-01-01T00:00:03.001Z' })).length, 1)
    assert.equal((await states({ status: 'TASK_STATE_UNSPECIFIED' })).length, 5)
    assert.equal((await list(testEngine, { contextId: 'c', pageSize: 1 })).totalSize, 4)
  })

  it('has artifacts only on request, and then always [B-83]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one', 'ask'])
    for (const task of (await list(testEngine)).tasks) assert.equal('artifacts' in task, false)
    const [asked, done] = (await list(testEngine, { includeArtifacts: true })).tasks
    assert.deepEqual(asked?.artifacts, [])
    assert.equal(done?.artifacts?.length, 1)
  })

  it('has the requested history of each task [B-73]', async (t) => {
    const testEngine = await engineWithTasks(t, ['one'])
    assert.equal('history' in ((await list(testEngine, { historyLength: 0 })).tasks[0] ?? {}), false)
    assert.equal((await list(testEngine, { historyLength: 1 })).tasks[0]?.history?.length, 1)
  })
})
