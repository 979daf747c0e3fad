import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Artifact, StreamEvent, Task } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import { openKind } from '../testing/open-kind.ts'
import { scriptedModel, type Script, type SeenBody } from '../testing/scripted-model.ts'
import { openaiKind } from './index.ts'

async function open(t: TestContext, script: Script, entry: object = {}, parts: Partial<AgentServices> = {}) {
  const model = await scriptedModel(script)
  t.after(() => model.close())
  const { baseUrl = model.url, ...rest } = entry as { baseUrl?: string }
  return { model, ...(await openKind(t, openaiKind, { baseUrl, model: 'scripted', ...rest }, { services: parts })) }
}

const echo: Script = ({ said }) => ({ say: `You said ${said}` })
const chatOf = ({ messages }: SeenBody) => messages.map(({ role, content }) => [role, content])
const parts = (artifacts: readonly Artifact[] | undefined) => artifacts?.map((artifact) => artifact.parts)
const lastStatus = (events: readonly StreamEvent[]) => {
  const statuses = events.flatMap((event) => ('statusUpdate' in event ? [event.statusUpdate] : []))
  return statuses.at(-1)
}

describe('a model as an agent', () => {
  it('sends what the operator configured, and nothing of the key to the caller', async (t) => {
    const { model, agent } = await open(
      t,
      echo,
      {
        apiKey: 'sk-1',
        organization: 'org',
        project: 'pro',
        headers: { 'X-Team': 'a' },
        query: { 'api-version': '7' },
        system: 'Be brief.',
        options: { temperature: 0.5 },
      },
      { persona: 'You are a pirate.' },
    )
    const task = (await agent.send('Hi')) as Task
    const { headers, body } = await model.request(1)
    const { authorization, 'openai-organization': organization, 'openai-project': project, 'x-team': team } = headers
    assert.deepEqual([authorization, organization, project, team], ['Bearer sk-1', 'org', 'pro', 'a'])
    assert.deepEqual([body.model, body['temperature'], body.stream], ['scripted', 0.5, true])
    assert.deepEqual(chatOf(body), [
      ['system', 'You are a pirate.\n\nBe brief.'],
      ['user', 'Hi'],
    ])
    assert.doesNotMatch(JSON.stringify(task), /sk-1/)
  })

  it('receives the conversation so far, newest first within its bounds', async (t) => {
    const { model, agent } = await open(t, echo, { historyTasks: 2 })
    const contextId = 'talk'
    for (const word of ['one', 'two', 'three', 'four']) await agent.send(word, { contextId })
    await agent.send('five', { contextId: 'other' })
    assert.deepEqual(chatOf((await model.request(4)).body), [
      ['user', 'two'],
      ['assistant', 'You said two'],
      ['user', 'three'],
      ['assistant', 'You said three'],
      ['user', 'four'],
    ])
    assert.deepEqual(chatOf((await model.request(5)).body), [['user', 'five']])
    const short = await open(t, echo, { historyChars: 20 })
    for (const word of ['one', 'two', 'three']) await short.agent.send(word, { contextId })
    assert.deepEqual(chatOf((await short.model.request(3)).body).slice(0, -1), [
      ['user', 'two'],
      ['assistant', 'You said two'],
    ])
  })

  it('receives no failed tasks, and receives those that the message refers to', async (t) => {
    const { model, agent } = await open(t, (request) =>
      request.said === 'bad' ? { status: 400, body: '' } : echo(request, 0),
    )
    const contextId = 'talk'
    await agent.send('bad', { contextId })
    const { id } = (await agent.send('elsewhere', { contextId: 'other' })) as Task
    await agent.send({ parts: [{ text: 'and now' }], contextId, referenceTaskIds: [id] })
    assert.deepEqual(chatOf((await model.request(3)).body), [
      ['user', 'elsewhere'],
      ['assistant', 'You said elsewhere'],
      ['user', 'and now'],
    ])
  })

  it('receives a second message to the same task after its own first answer', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { model, agent } = await open(t, ({ said }) => ({ say: [`<${said}>`], before: () => gate.promise }))
    const task = (await agent.send('first', { returnImmediately: true })) as Task
    await model.request(1)
    const second = agent.send('second', { taskId: task.id })
    gate.resolve()
    await second
    assert.deepEqual(chatOf((await model.request(2)).body), [
      ['user', 'first'],
      ['assistant', '<first>'],
      ['user', 'second'],
    ])
  })

  it('takes images and files, and those of before, as many as it may', async (t) => {
    const { model, agent } = await open(t, () => ({ say: 'A cat' }), { historyFiles: 1 })
    const picture = (name: string) => ({
      raw: Buffer.from(name).toString('base64'),
      mediaType: 'image/png',
      filename: name,
    })
    const contextId = 'talk'
    for (const name of ['a.png', 'b.png']) await agent.send([{ text: 'What is it?' }, picture(name)], { contextId })
    await agent.send('And its colour?', { contextId })
    const [first, , second] = (await model.request(3)).body.messages.map(({ content }) => content)
    assert.deepEqual(first, 'What is it?\n[a.png, image/png]')
    assert.deepEqual(second, [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${picture('b.png').raw}` } },
    ])
  })

  it('refuses a part that it cannot take before there is a task [B-70]', async (t) => {
    const { model, agent } = await open(t, echo)
    await assert.rejects(agent.send([{ raw: 'AAEC', mediaType: 'video/mp4' }]), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
    assert.equal(model.requests.length, 0)
  })

  it('says in the metadata of the last status what it took, and nothing else of the provider', async (t) => {
    const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, secret: 'org-7' }
    const { agent } = await open(t, () => ({ say: ['a', 'b'], usage }), {}, { now: () => 1_000 })
    const last = lastStatus(await agent.stream('hi').all())
    assert.equal(last?.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(last.metadata, {
      usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
      modelCalls: [
        {
          model: 'scripted',
          finishReason: 'stop',
          startedAt: 1_000,
          durationMs: 0,
          attempts: 1,
          inputTokens: 9,
          outputTokens: 4,
          totalTokens: 13,
        },
      ],
    })
  })

  it('answers with data that fits the schema of a part', async (t) => {
    const schema = { type: 'array', items: { type: 'object', properties: { ticketNumber: { type: 'string' } } } }
    const value = [{ ticketNumber: 'REQ12312' }]
    const { model, agent } = await open(t, () => ({ say: ['{"value":', `${JSON.stringify(value)}}`] }))
    const asked = [{ text: 'My open tickets', metadata: { mimeType: 'application/json', schema } }]
    const task = (await agent.send(asked)) as Task
    assert.deepEqual(parts(task.artifacts), [[{ data: value, mediaType: 'application/json' }]])
    assert.equal(((await model.request(1)).body['response_format'] as { type: string }).type, 'json_schema')
    const asText = (await agent.send(asked, { acceptedOutputModes: ['text/plain'] })) as Task
    assert.deepEqual(parts(asText.artifacts), [[{ text: JSON.stringify(value) }]])
  })

  it('receives the errors once, and fails if the next answer is invalid too', async (t) => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const asked = [{ text: 'A number', metadata: { schema } }]
    const learns = await open(t, (_, count) => ({ say: count === 1 ? '{"n":"one"}' : '{"n":1}' }))
    const task = (await learns.agent.send(asked)) as Task
    assert.deepEqual(parts(task.artifacts), [[{ data: { n: 1 }, mediaType: 'application/json' }]])
    assert.match((await learns.model.request(2)).said, /does not match the requested schema/)
    const stubborn = await open(t, () => ({ say: 'One.' }))
    const { status, artifacts } = (await stubborn.agent.send(asked)) as Task
    assert.deepEqual([status.state, artifacts], ['TASK_STATE_FAILED', undefined])
    assert.equal(stubborn.model.requests.length, 2)
  })

  it('may be another model, where the operator permits it', async (t) => {
    const { model, agent } = await open(t, echo, { models: ['big-*'] })
    await agent.send({ parts: [{ text: 'hi' }], metadata: { model: 'big-1' } })
    assert.equal((await model.request(1)).body.model, 'big-1')
    await assert.rejects(agent.send({ parts: [{ text: 'hi' }], metadata: { model: 'else' } }), {
      code: 'INVALID_PARAMS',
    })
  })

  it('shows the models of the endpoint as skills without asking any of them', async (t) => {
    const { model, opened } = await open(t, echo, { models: ['big-*'] })
    model.models = ['scripted', 'big-2', 'tiny', 'big-1']
    const { signal } = new AbortController()
    const looked = await opened.fetchCard?.(signal)
    assert.deepEqual(
      looked?.skills?.map(({ id }) => id),
      ['scripted', 'big-2', 'big-1'],
    )
    await opened.health?.(signal)
    model.models = undefined
    await assert.rejects(opened.fetchCard?.(signal) ?? Promise.resolve())
    await opened.health?.(signal)
    assert.equal(model.requests.length, 0)
  })

  it('is down if the endpoint does not list it, with the models that there are', async (t) => {
    const { model, opened, agent } = await open(t, echo)
    const check = async (): Promise<string> =>
      opened.health === undefined
        ? 'no check'
        : opened.health(new AbortController().signal).then(() => 'up', operatorMessage)
    model.models = ['script', 'big-1', 'big-2']
    assert.equal(
      await check(),
      'the endpoint has no model scripted. Did you mean script? It has script, big-1, big-2'.replace(
        'script?',
        'script?',
      ),
    )
    for (const same of ['models/scripted', 'scripted:latest', 'scripted']) {
      model.models = ['big-1', same]
      assert.equal(await check(), 'up', same)
    }
    model.models = []
    assert.equal(await check(), 'up')
    // A server of one model accepts every name, and has no such path.
    model.models = ['big-1']
    const body = model.missingModelBody
    model.missingModelBody = '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'
    assert.equal(await check(), 'up')
    model.missingModelBody = body
    // An alias need not be listed: the answer proves that it exists.
    model.models = ['big-1']
    await agent.send('hi')
    assert.equal(await check(), 'up')
  })

  it('is down once the endpoint says that it does not have it, until it answers again', async (t) => {
    let body: string | undefined = '{"error":{"message":"No such model","code":"model_not_found"}}'
    const { model, opened, agent } = await open(t, (asked, count) =>
      body === undefined ? echo(asked, count) : { status: 404, body },
    )
    model.models = undefined
    const check = async (): Promise<string> =>
      opened.health === undefined
        ? 'no check'
        : opened.health(new AbortController().signal).then(() => 'up', operatorMessage)
    assert.equal(await check(), 'up')
    await agent.send('hi')
    assert.equal(await check(), 'the endpoint returned 404: No such model (model_not_found)')
    body = undefined
    await agent.send('hi')
    assert.equal(await check(), 'up')
  })

  it('is not let in, or not there, by its health', async (t) => {
    const { opened } = await open(t, echo, { baseUrl: 'http://127.0.0.1:9/v1' })
    await assert.rejects(opened.health?.(new AbortController().signal) ?? Promise.resolve(), {
      code: 'AGENT_UNAVAILABLE',
    })
  })
})

describe('an answer that is none, or not all of one,', () => {
  const endings: [string, Script, string, RegExp][] = [
    ['is a refusal', () => ({ refuse: 'I will not' }), 'TASK_STATE_REJECTED', /^I will not$/],
    [
      'is stopped by a filter',
      () => ({ say: 'Well, ', finish: 'content_filter' }),
      'TASK_STATE_FAILED',
      /filter stopped the rest/,
    ],
    ['is cut at the limit', () => ({ say: 'Well, ', finish: 'length' }), 'TASK_STATE_COMPLETED', /not complete/],
    ['is nothing but thoughts', () => ({ finish: 'length' }), 'TASK_STATE_FAILED', /before it began/],
    ['is nothing', () => ({}), 'TASK_STATE_FAILED', /with nothing/],
  ]
  for (const [what, script, state, words] of endings)
    for (const stream of [true, false])
      it(`${what}, streamed or not (${stream}): the state shows it`, async (t) => {
        const { agent } = await open(t, script, { stream })
        const events = await agent.stream('hi').all()
        const last = lastStatus(events)
        assert.equal(last?.status.state, state)
        const [part] = last.status.message?.parts ?? []
        assert.match(part !== undefined && 'text' in part ? part.text : '', words)
        assert.ok(last.metadata?.['usage'] !== undefined, 'the usage is reported nevertheless')
      })

  it('is refused by the provider before the model saw it', async (t) => {
    const body = '{"error":{"code":"content_filter","message":"deployment-3 says no"}}'
    const { agent } = await open(t, () => ({ status: 400, body }))
    const { status } = (await agent.send('hi')) as Task
    assert.equal(status.state, 'TASK_STATE_REJECTED')
    assert.doesNotMatch(JSON.stringify(status), /deployment-3/)
  })
})
