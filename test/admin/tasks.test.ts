/** Tasks of all callers, for admins: found by every filter, shown in full, and as sent to each client. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestHub } from './test-hub.ts'

const agents = {
  talker: { kind: 'module', path: './talker.ts', default: true },
  asker: { kind: 'module', path: './talker.ts' },
  echo: { kind: 'demo', agent: 'echo' },
}
const testHub = await openTestHub({ config: { access: { anonymous: ['echo'] }, agents } })
const { ask, send, call, key } = testHub
const ann = await key({ agents: ['talker', 'asker'], principal: 'ann' })
const bob = await key({ agents: ['talker', 'echo'], principal: 'bob' })

const list = async (query = ''): Promise<any[]> => (await ask('GET', `/admin/tasks?${query}`)).json.tasks
const ids = (tasks: any[]): string[] => tasks.map(({ id }) => id)

const hello = await send('talker', 'Hello from Ann', ann)
const city = await send('talker', 'ask Ann about a city', ann)
const failed = await send('talker', 'fail for Bob', bob)
const echoed = await send('echo', 'For any reader')
const greeting = await send('echo', 'Bob says hello', bob, { metadata: { order: 'A-4711' } })

describe('the list of tasks', () => {
  it('lists the tasks of all callers, newest first, with owner and first message', async () => {
    const tasks = await list()
    assert.deepEqual(ids(tasks), ids([greeting, echoed, failed, city, hello]))
    assert.deepEqual(
      tasks.map(({ agent, caller, state, title }) => [agent, caller, state.slice(11), title]),
      [
        ['echo', 'bob', 'COMPLETED', 'Bob says hello'],
        ['echo', 'anonymous', 'COMPLETED', 'For any reader'],
        ['talker', 'bob', 'FAILED', 'fail for Bob'],
        ['talker', 'ann', 'INPUT_REQUIRED', 'ask Ann about a city'],
        ['talker', 'ann', 'COMPLETED', 'Hello from Ann'],
      ],
    )
    assert.equal(tasks[2].statusText, 'The agent failed')
    assert.equal(tasks[2].cause, 'a secret of ours')
    assert.deepEqual([tasks[4].result, tasks[4].waitingMs], ['You said: Hello from Ann', 0])
    assert.ok(tasks[0].durationMs >= 0 && tasks[3].durationMs === undefined)
  })

  it('is filtered by agent, state, caller, context, time and text, and by combinations', async () => {
    assert.deepEqual(ids(await list('agent=echo')), ids([greeting, echoed]))
    assert.deepEqual(ids(await list('state=TASK_STATE_FAILED')), ids([failed]))
    assert.deepEqual(ids(await list('state=TASK_STATE_FAILED&state=TASK_STATE_INPUT_REQUIRED')), ids([failed, city]))
    assert.deepEqual(ids(await list('caller=bob')), ids([greeting, failed]))
    assert.deepEqual(ids(await list('caller=bob&agent=talker')), ids([failed]))
    assert.deepEqual(ids(await list(`context=${city.contextId}`)), ids([city]))
    const tasks = await list()
    assert.deepEqual(
      ids(await list(`since=${tasks[1].statusAt}&until=${tasks[0].statusAt}`)).includes(greeting.id),
      false,
    )
    assert.ok(ids(await list(`since=${tasks[1].statusAt}`)).includes(echoed.id))
    assert.deepEqual(await list('since=2099-01-01T00:00:00Z'), [])
    assert.deepEqual(ids(await list('text=HELLO')), ids([greeting, hello]))
    assert.deepEqual(ids(await list('text=hello&caller=ann')), ids([hello]))
    assert.deepEqual(ids(await list(`text=${city.id.slice(-12)}`)), ids([city]))
    assert.deepEqual(ids(await list('text=which%20city')), ids([city]))
    assert.deepEqual(await list('text=not%20in%20any%20task'), [])
  })

  it('is paged without loss or repetition, also with a text', async () => {
    for (const filter of ['', '&text=a', '&caller=ann']) {
      const whole = ids(await list(`limit=100${filter}`))
      const seen: string[] = []
      for (let query = `limit=1${filter}`; ;) {
        const { json } = await ask('GET', `/admin/tasks?${query}`)
        seen.push(...ids(json.tasks))
        if (json.before === undefined) break
        query = `limit=1${filter}&before=${encodeURIComponent(json.before)}`
      }
      assert.deepEqual(seen, whole)
    }
  })

  it('is sorted by time, agent, state and duration, in pages of any size', async () => {
    const byAgent = [...[greeting, echoed], ...[failed, city, hello]]
    const byState = [city, failed, greeting, echoed, hello]
    for (const [query, expected] of [
      ['sort=time&direction=asc', [hello, city, failed, echoed, greeting]],
      ['sort=agent', byAgent],
      ['sort=state', byState],
      ['sort=state&caller=bob', [failed, greeting]],
    ] as const) {
      const seen: string[] = []
      for (let before = ''; ;) {
        const { json } = await ask('GET', `/admin/tasks?limit=2&${query}${before}`)
        seen.push(...ids(json.tasks))
        if (json.before === undefined) break
        before = `&before=${encodeURIComponent(json.before)}`
      }
      assert.deepEqual(seen, ids([...expected]), query)
    }
    const slowest = await list('sort=duration')
    const workingMs = slowest.filter(({ durationMs }) => durationMs !== undefined).map(({ durationMs }) => durationMs)
    assert.deepEqual(
      workingMs,
      workingMs.toSorted((one, other) => other - one),
    )
    assert.equal((await ask('GET', '/admin/tasks?sort=agent&before=nonsense')).status, 400)
  })

  it('counts them by state and by agent', async () => {
    const { json } = await ask('GET', '/admin/task-counts')
    assert.deepEqual(json.states, {
      TASK_STATE_COMPLETED: 3,
      TASK_STATE_FAILED: 1,
      TASK_STATE_INPUT_REQUIRED: 1,
    })
    assert.deepEqual(json.unfinished, [{ agent: 'talker', state: 'TASK_STATE_INPUT_REQUIRED', tasks: 1 }])
  })

  it('has the tasks of a removed agent, which can be shown and canceled', async () => {
    const { id } = await send('asker', 'ask for a name', ann)
    await ask('DELETE', '/admin/agents/asker')
    await testHub.restart()
    assert.equal((await call('asker', 'GetTask', { id }, ann)).status, 404)
    assert.equal((await ask('GET', `/admin/tasks/${id}`)).json.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal((await ask('POST', `/admin/tasks/${id}/cancel`)).json.task.status.state, 'TASK_STATE_CANCELED')
    assert.equal((await list('agent=asker'))[0].state, 'TASK_STATE_CANCELED')
  })
})

describe('a task', () => {
  it('is shown in full, for any owner', async () => {
    const { json } = await ask('GET', `/admin/tasks/${hello.id}`)
    assert.deepEqual([json.caller, json.title, json.firstSeq], ['ann', 'Hello from Ann', 1])
    assert.equal(json.task.artifacts[0].parts[0].text, 'You said: Hello from Ann')
    assert.match(json.traceId, /^[0-9a-f]{32}$/)
    assert.deepEqual(json.push, [])
  })

  it('shows operators why it failed, with the stack, and callers do not get it', async () => {
    const { json } = await ask('GET', `/admin/tasks/${failed.id}`)
    assert.equal(json.cause, 'a secret of ours')
    assert.match(json.causeDetails, /^Error: a secret of ours\n\s+at .*talker\.ts/)
    const seen = await call('talker', 'GetTask', { id: failed.id }, bob)
    assert.ok(!JSON.stringify(seen.json).includes('a secret of ours'))
  })

  it('counts the time that it waited for its caller', async () => {
    const asked = await send('talker', 'ask about a colour', ann)
    const before = (await ask('GET', `/admin/tasks/${asked.id}`)).json
    assert.deepEqual([before.waitingMs, before.durationMs], [0, undefined])
    await send('talker', 'blue', ann, { taskId: asked.id, contextId: asked.contextId })
    const { json } = await ask('GET', `/admin/tasks/${asked.id}`)
    const { events } = (await ask('GET', `/admin/tasks/${asked.id}/events`)).json
    const question = events.find(({ body }: any) => body.status?.state === 'TASK_STATE_INPUT_REQUIRED')
    const answer = events.find(({ seq, type }: any) => seq > question.seq && type === 'message')
    assert.equal(json.waitingMs, Date.parse(answer.at) - Date.parse(question.at))
    const [listed] = await list(`context=${asked.contextId}`)
    assert.deepEqual([listed.waitingMs, listed.durationMs], [json.waitingMs, json.durationMs])
  })

  it('shows its stored log page by page, with internal records', async () => {
    const { json } = await ask('GET', `/admin/tasks/${failed.id}/events`)
    const types = json.events.map(({ type }: any) => type)
    assert.deepEqual([types[0], json.head], ['message', json.events.length])
    assert.ok(types.includes('turn-started') && types.includes('status'))
    assert.ok(json.events.every(({ isVisible, type }: any) => isVisible === (type === 'status' || type === 'artifact')))
    const seqs: number[] = []
    for (let after = 0; ;) {
      const page = (await ask('GET', `/admin/tasks/${failed.id}/events?limit=2&after=${after}`)).json
      seqs.push(...page.events.map(({ seq }: any) => seq))
      if (page.after === undefined) break
      after = page.after
    }
    assert.deepEqual(
      seqs,
      json.events.map(({ seq }: any) => seq),
    )
  })

  it('is shown without the frames of a large event, which would be encoded for every version in one step', async () => {
    const large = await send('echo', 'x'.repeat(600_000))
    const { json } = await ask('GET', `/admin/tasks/${large.id}/wire`)
    const omitted = json.events.filter(({ omittedBytes }: any) => omittedBytes !== undefined)
    assert.deepEqual(
      omitted.map(({ frames, omittedBytes }: any) => [frames.length, omittedBytes >= 600_000]),
      [[0, true]],
    )
    assert.equal(json.events.at(-1).frames[0].payload.statusUpdate.status.state, 'TASK_STATE_COMPLETED')
  })

  it('is shown as clients of 0.2, 0.3 and 1.0 receive it, side by side', async () => {
    const { json } = await ask('GET', `/admin/tasks/${hello.id}/wire`)
    const last = json.events.at(-1)
    const by = (version: string, binding: string) =>
      last.frames.find((frame: any) => frame.version === version && frame.binding === binding)
    assert.equal(by('1.0', 'JSONRPC').payload.statusUpdate.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(
      [
        by('0.3', 'JSONRPC').payload.kind,
        by('0.3', 'JSONRPC').payload.status.state,
        by('0.3', 'JSONRPC').payload.final,
      ],
      ['status-update', 'completed', true],
    )
    assert.equal(by('0.2', 'JSONRPC').payload.final, true)
    assert.match(by('1.0', 'JSONRPC').frame, /^id: \d+\ndata: \{"jsonrpc":"2\.0","id":1,"result":/)
    // As a new subscriber receives it.
    const replayed = await fetch(`${testHub.url}/a2a/talker`, {
      method: 'POST',
      headers: { ...ann, 'content-type': 'application/json', 'last-event-id': '1' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: hello.id } }),
    })
    const frames = json.events.flatMap((event: any) =>
      event.frames.filter(({ version, binding }: any) => version === '0.3' && binding === 'JSONRPC'),
    )
    const expected = frames.map(({ frame }: any) => frame).filter((frame: string) => !frame.startsWith('id: 1\n'))
    assert.equal(await replayed.text(), expected.join(''))
  })
})
