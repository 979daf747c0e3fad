/** Secrets that the hub keeps: `${hub:<name>}`. A model that requires a key is added, called, restarted and given another key. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { parse } from 'yaml'
import { openTestHub, type TestHub } from './test-hub.ts'

const key = 'sk-typed-into-the-console'

/** An endpoint with the OpenAI API that requires a key. `key` is the one that it accepts. */
async function openModel(): Promise<{ url: string; key: string }> {
  const model = { url: '', key }
  const server = createServer((request, response) => {
    request.resume()
    if (request.headers.authorization !== `Bearer ${model.key}`) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Incorrect API key"}}')
    } else if (request.url === '/v1/models') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"some-model"}]}')
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"choices":[{"delta":{"content":"the answer"}}]}\n\ndata: [DONE]\n\n')
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return model
}

const fileOf = ({ file }: TestHub): string => readFileSync(file, 'utf8')
const entryOf = (stage: TestHub, agent: string): any => parse(fileOf(stage)).agents[agent]

async function assertAnswers(stage: TestHub, agent: string): Promise<void> {
  assert.match(JSON.stringify((await stage.send(agent, 'a question')).artifacts), /the answer/)
}

async function addModel(stage: TestHub, baseUrl: string, apiKey = key): Promise<void> {
  const entry = { kind: 'openai', baseUrl, model: 'some-model', apiKey }
  const { status, json } = await stage.ask('POST', '/admin/agents', { name: 'gpt', entry })
  assert.equal(status, 201, JSON.stringify(json))
}

describe('a secret that the hub keeps', () => {
  it('is in no error that operators see: of a program that does not start, and of an endpoint that repeats the key', async () => {
    const secret = 'correct-horse-battery'
    const server = createServer((request, response) => {
      request.resume()
      const body = { error: { message: `No such key: ${String(request.headers.authorization).slice(7)}` } }
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => server.close())
    const stage = await openTestHub()
    for (const [name, entry] of Object.entries({
      program: { kind: 'acp', command: ['/no/such/${hub:wk}/program'] },
      model: {
        kind: 'openai',
        baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        model: 'm',
        apiKey: '${hub:wk}',
      },
    })) {
      const secrets = name === 'program' ? { secrets: { wk: secret } } : {}
      const added = await stage.ask('POST', '/admin/agents', { name, entry, ...secrets })
      assert.equal(added.status, 201, JSON.stringify(added.json))
    }
    const tasks = []
    for (const name of ['program', 'model']) {
      const sent = await stage.send(name, 'a question').catch((reason: unknown) => reason as any)
      if (sent?.id !== undefined) tasks.push(sent.id)
    }
    assert.ok(tasks.length > 0)
    const paths = ['agents', 'agents/program', 'agents/model', 'health', 'tasks']
    for (const id of tasks) paths.push(`tasks/${id}`, `tasks/${id}/events`)
    const shown = []
    for (const path of paths) shown.push(JSON.stringify((await stage.ask('GET', `/admin/${path}`)).json))
    for (const [index, text] of shown.entries()) assert.ok(!text.includes(secret), `${paths[index]}: ${text}`)
    assert.match(shown.join(), /no\/such\/\[redacted\]\/program/)
    assert.match(shown.join(), /No such key: \[redacted\]/)
  })

  it('is the token of a detected agent: the agent is added, answers, and answers after a restart', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    const { json: found } = await stage.ask('POST', '/admin/agents/detect', { target: model.url, token: key })
    assert.deepEqual([found.kind, found.entry.apiKey], ['openai', `\${hub:${found.secret}}`])
    const entry = { kind: found.kind, ...found.entry }
    const added = await stage.ask('POST', '/admin/agents', { name: 'gpt', entry, secrets: { [found.secret]: key } })
    assert.equal(added.status, 201, JSON.stringify(added.json))
    await assertAnswers(stage, 'gpt')
    assert.equal(entryOf(stage, 'gpt').apiKey, '${hub:some-model-token}')
    await stage.restart()
    await assertAnswers(stage, 'gpt')
    const again = await stage.ask('POST', '/admin/agents', { name: 'two', entry, secrets: { [found.secret]: 'other' } })
    assert.deepEqual(
      [again.status, again.json.error.message],
      [409, 'There is a secret some-model-token already: detect again'],
    )
    await assertAnswers(stage, 'gpt')
  })

  it('is each secret in clear of an entry: the file gets references, and comments stay', async () => {
    const stage = await openTestHub()
    const entry = {
      kind: 'a2a',
      url: 'http://user:sesame-password@127.0.0.1:2/a2a',
      auth: { bearer: key },
      headers: { 'X-Team': 'a-team-secret', 'X-Other': '${env:OTHER}' },
    }
    const added = await stage.ask('POST', '/admin/agents', { name: 'remote', entry })
    assert.equal(added.status, 400, 'OTHER is not set')
    assert.deepEqual((await stage.ask('GET', '/admin/secrets')).json.secrets, [], 'nothing is kept of a refused entry')
    const { 'X-Other': _, ...headers } = entry.headers
    const { status, json } = await stage.ask('POST', '/admin/agents', { name: 'remote', entry: { ...entry, headers } })
    assert.equal(status, 201, JSON.stringify(json))
    assert.deepEqual(entryOf(stage, 'remote'), {
      kind: 'a2a',
      url: 'http://user:${hub:remote-url}@127.0.0.1:2/a2a',
      auth: { bearer: '${hub:remote-bearer}' },
      headers: { 'X-Team': '${hub:remote-x-team}' },
    })
    const text = '# ours\nkind: a2a\nurl: http://127.0.0.1:2/a2a # theirs\nauth: { bearer: another-secret }\n'
    const changed = await stage.ask('PUT', '/admin/agents/remote', { text })
    assert.equal(changed.status, 200, JSON.stringify(changed.json))
    assert.match(fileOf(stage), /# ours[^]*# theirs/)
    // Under another name: until the change is applied, the agent must not send the new value to its old URL.
    assert.equal(entryOf(stage, 'remote').auth.bearer, '${hub:remote-bearer-2}')
    const refused = await stage.ask('PUT', '/admin/agents/remote', { text, base: 'of-an-earlier-text' })
    assert.equal(refused.status, 409)
    const names = (await stage.ask('GET', '/admin/secrets')).json.secrets.map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['remote-bearer', 'remote-bearer-2', 'remote-url', 'remote-x-team'])
    assert.doesNotMatch(fileOf(stage), /sesame|sk-typed|a-team-secret|another-secret/)
  })

  it('opens its agents again when it is set, and only they are unavailable without it', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    await addModel(stage, model.url)
    await assertAnswers(stage, 'gpt')
    model.key = 'sk-replaced-by-the-provider'
    const set = await stage.ask('PUT', '/admin/secrets/gpt-api-key', { value: model.key })
    assert.deepEqual([set.status, set.json.agents], [200, ['gpt']])
    await assertAnswers(stage, 'gpt')
  })

  it('is listed without its value, and removed when no agent uses it', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    await addModel(stage, model.url)
    const [listed] = (await stage.ask('GET', '/admin/secrets')).json.secrets
    assert.deepEqual(listed, { name: 'gpt-api-key', isSet: true, setAt: listed.setAt, setBy: 'admin', agents: ['gpt'] })
    const refused = await stage.ask('DELETE', '/admin/secrets/gpt-api-key')
    assert.deepEqual([refused.status, refused.json.error.message.startsWith('gpt uses the secret')], [409, true])
    await stage.ask('DELETE', '/admin/agents/gpt')
    assert.equal((await stage.ask('DELETE', '/admin/secrets/gpt-api-key')).status, 200)
    assert.equal((await stage.ask('DELETE', '/admin/secrets/gpt-api-key')).status, 404)
    const { entries } = (await stage.ask('GET', '/admin/audit?limit=100')).json
    const events = entries
      .filter(({ event }: any) => event.startsWith('secret.'))
      .map((one: any) => [one.event, one.key])
    assert.deepEqual(events, [['secret.removed', 'gpt-api-key']])
  })

  it('is refused without a name, a value or room', async () => {
    const stage = await openTestHub()
    for (const [name, value] of [
      ['two%20words', key],
      ['.hidden', key],
      ['empty', ''],
      ['large', 'x'.repeat(64_001)],
      ['binary', 'a\0b'],
    ] as const)
      assert.equal((await stage.ask('PUT', `/admin/secrets/${name}`, { value })).status, 400, name)
    assert.equal((await stage.ask('PUT', '/admin/secrets/large', { value: 'x'.repeat(64_000) })).status, 200)
  })

  it('must be set before a change of the configuration refers to it; a file that does is applied, without its agent', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    const entry = { kind: 'openai', baseUrl: model.url, model: 'some-model', apiKey: '${hub:not-yet}' }
    const refused = await stage.ask('POST', '/admin/agents', { name: 'gpt', entry })
    assert.equal(refused.status, 400)
    assert.match(refused.json.error.message, /agents\.gpt\.apiKey: line \d+: the secret \$\{hub:not-yet\} is not set: set it with `parley secret set not-yet`/) // prettier-ignore
    const { text } = (await stage.ask('GET', '/admin/config')).json
    const checked = await stage.ask('POST', '/admin/config/check', { text: `${text}  gpt: ${JSON.stringify(entry)}\n` })
    assert.equal(checked.json.problems[0]?.path, 'agents.gpt.apiKey')
    await addModel(stage, model.url)
    // As after a restore of an older backup.
    await stage.hub.close()
    const store = sqliteStore({ file: join(stage.folder, '.parley/parley.db') })
    for (const prefix of ['value', 'about']) await store.kv.remove('hub-secret', `${prefix}/gpt-api-key`)
    await store.close()
    await stage.restart()
    const { json: down } = await stage.ask('GET', '/admin/agents/gpt')
    assert.equal(
      down.startError.message,
      'the secret ${hub:gpt-api-key} is not set: set it with `parley secret set gpt-api-key`',
    )
    assert.equal((await stage.ask('GET', '/admin/agents/echo')).json.state, 'open')
    assert.deepEqual((await stage.ask('GET', '/admin/secrets')).json.secrets, [
      { name: 'gpt-api-key', isSet: false, agents: ['gpt'] },
    ])
    const other = await stage.ask('PUT', '/admin/agents/clock', { entry: { kind: 'demo', agent: 'clock', description: 'Tells the time.' } }) // prettier-ignore
    assert.equal(other.status, 200, 'another agent can be changed')
    await stage.ask('PUT', '/admin/secrets/gpt-api-key', { value: key })
    await assertAnswers(stage, 'gpt')
  })

  it('is not set if no key decrypts it, as after a restore without the keys, and can be given again with its entry', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    await addModel(stage, model.url)
    await stage.ask('PUT', '/admin/secrets/other', { value: key })
    await stage.hub.close()
    const store = sqliteStore({ file: join(stage.folder, '.parley/parley.db') })
    // What was sealed for another name opens with no key.
    const value = (await store.kv.read('hub-secret', 'value/other'))?.value as string
    await store.kv.write('hub-secret', { key: 'value/gpt-api-key', value })
    await store.close()
    await stage.restart()
    assert.deepEqual((await stage.ask('GET', '/admin/secrets')).json.secrets[0], {
      name: 'gpt-api-key',
      isSet: false,
      agents: ['gpt'],
    })
    const entry = { kind: 'openai', baseUrl: model.url, model: 'some-model', apiKey: key }
    const changed = await stage.ask('PUT', '/admin/agents/gpt', { entry })
    assert.equal(changed.status, 200, JSON.stringify(changed.json))
    assert.equal(entryOf(stage, 'gpt').apiKey, '${hub:gpt-api-key-2}')
    await assertAnswers(stage, 'gpt')
  })

  it('is in no response, log, audit entry, version of the configuration or row of the store', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    await addModel(stage, model.url)
    await stage.ask('PUT', '/admin/secrets/gpt-api-key', { value: `${key}-wrong` })
    await stage.send('gpt', 'a question').catch(() => {})
    await stage.ask('PUT', '/admin/secrets/gpt-api-key', { value: key, more: key })
    await assertAnswers(stage, 'gpt').catch(() => {})
    const versions = (await stage.ask('GET', '/admin/config/versions')).json.versions
    const paths = ['agents/gpt', 'secrets', 'config', 'audit', 'tasks', `config/versions/${versions[0].id}`]
    const answers = await Promise.all(paths.map(async (path) => (await stage.ask('GET', `/admin/${path}`)).json))
    assert.doesNotMatch(inspect([answers, stage.logged], { depth: 30 }), /sk-typed/)
    await stage.hub.close()
    assert.ok(!readFileSync(join(stage.folder, '.parley/parley.db')).includes('sk-typed'))
    await stage.restart()
  })

  it('is sealed under a new key when the keys are rotated, and is read after a restart', async () => {
    const [stage, model] = [await openTestHub(), await openModel()]
    await addModel(stage, model.url)
    for (const what of ['signing', 'master', 'signing', 'master'])
      assert.equal((await stage.ask('POST', `/admin/rotate/${what}`)).status, 200)
    await stage.ask('PUT', '/admin/secrets/another', { value: 'set after the rotation' })
    await assertAnswers(stage, 'gpt')
    await stage.hub.close()
    const store = sqliteStore({ file: join(stage.folder, '.parley/parley.db') })
    const { value } = (await store.kv.read('hub-secret', 'value/gpt-api-key')) ?? {}
    await store.close()
    assert.match(value as string, /^3\./, 'by the newest of three keys')
    await stage.restart()
    await assertAnswers(stage, 'gpt')
  })
})
