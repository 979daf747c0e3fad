/** The card settings of parley.yaml as clients see them: shape, omitted fields, extended cards. */
import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call1_0, cardOf } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, startHub } from './running-hub.ts'

const adminKey = 'the admin key of this test'
const env = { PARLEY_ADMIN_KEY: adminKey }

async function start(yaml: string) {
  const folder = await newFolder({ 'parley.yaml': yaml })
  const hub = await startHub(folder, [], env)
  return {
    ...hub,
    folder,
    card: (agent: string, version?: string): Promise<any> =>
      cardOf(`${hub.url}/a2a/${agent}`, version === undefined ? {} : { 'A2A-Version': version }),
    async change(text: string): Promise<void> {
      await writeFile(join(folder, 'new'), text)
      await rename(join(folder, 'new'), join(folder, 'parley.yaml'))
    },
    async key(agent: string): Promise<Record<string, string>> {
      const made = await runInProcess(folder, ['key', 'create', '--agent', agent], { ...env, PARLEY_URL: hub.url })
      return { authorization: `Bearer ${made.lines.find((line) => /^\S+$/.test(line)) ?? ''}` }
    },
  }
}

const bindings = (card: any): string[] => [
  ...new Set<string>(card.supportedInterfaces.map((one: { protocolBinding: string }) => one.protocolBinding)),
]

describe('the cards of a hub', { timeout: 120_000 }, () => {
  it('have the configured shape, for all agents or for one, and follow changes', async () => {
    const agents = 'agents: { a: { kind: demo, agent: echo }, b: { kind: demo, agent: echo, card: { shape: 0.3 } } }\n'
    const hub = await start(agents)
    const shapes = async () =>
      [await cardOf(hub.url), await hub.card('a'), await hub.card('b')].map((card) => [
        card.protocolVersion,
        card.supportedInterfaces !== undefined,
      ])
    assert.deepEqual(await shapes(), [
      ['0.3.0', true],
      ['0.3.0', true],
      ['0.3.0', false],
    ])
    // YAML parses this as a number.
    await hub.change(`card: 1.0\n${agents}`)
    await hub.waitForLine(/card: changed/)
    assert.deepEqual(await shapes(), [
      [undefined, true],
      [undefined, true],
      ['0.3.0', false],
    ])
    assert.equal((await hub.card('a', '0.3')).protocolVersion, '0.3.0')
    await hub.stop()
  })

  it('may omit interfaces that are served and requirements that are enforced [full]', async () => {
    const hub = await start(`
listen: { grpcPort: 0 }
card: { omitInterfaces: [GRPC], omitSecurityRequirements: true }
agents:
  plain: { kind: demo, agent: echo }
  full: { kind: demo, agent: echo, card: { omitInterfaces: [], omitSecurityRequirements: false } }
access: {}
`)
    const plain = await hub.card('plain')
    assert.deepEqual(bindings(plain), ['JSONRPC', 'HTTP+JSON'])
    assert.deepEqual(Object.keys(plain.securitySchemes), ['bearer', 'apiKey'])
    assert.deepEqual([plain.securityRequirements, plain.security], [undefined, undefined])
    assert.equal((await call1_0(`${hub.url}/a2a/plain`, 'hi')).status, 401)
    const full = await hub.card('full')
    assert.deepEqual(bindings(full), ['JSONRPC', 'HTTP+JSON', 'GRPC'])
    assert.deepEqual(full.security, [{ bearer: [] }, { apiKey: [] }])
    assert.equal(full.securityRequirements.length, 2)
    await hub.stop()
  })

  it('declare schemes but no requirements for an agent that may be called without credentials [full]', async () => {
    const hub = await start(`
agents: { open: { kind: demo, agent: echo }, shut: { kind: demo, agent: echo } }
access: { anonymous: [open] }
`)
    for (const version of ['1.0', '0.3', undefined]) {
      const open = await hub.card('open', version)
      assert.deepEqual(Object.keys(open.securitySchemes), ['bearer', 'apiKey'])
      assert.ok(!('securityRequirements' in open) && !('security' in open))
      const shut = await hub.card('shut', version)
      assert.ok('securityRequirements' in shut || 'security' in shut)
    }
    assert.equal((await call1_0(`${hub.url}/a2a/open`, 'hi')).text, 'hi')
    assert.equal((await call1_0(`${hub.url}/a2a/open`, 'hi', { authorization: 'Bearer wrong' })).status, 401)
    await hub.stop()
  })

  it('have more skills for authenticated callers, in every version', async () => {
    const hub = await start(`
agents:
  a:
    kind: demo
    agent: echo
    skills: [{ name: Repeat }]
    card: { extended: { description: For those we know, skills: [{ name: Shout }] } }
  b: { kind: demo, agent: echo }
access: { anonymous: '*' }
`)
    const card = await hub.card('a')
    assert.deepEqual([card.capabilities.extendedAgentCard, card.supportsAuthenticatedExtendedCard], [true, true])
    assert.equal((await hub.card('b')).capabilities.extendedAgentCard, undefined)
    const rest = (path: string, headers: Record<string, string>) => fetch(`${hub.url}/a2a/a${path}`, { headers })
    assert.equal((await rest('/extendedAgentCard', {})).status, 401)
    const key = await hub.key('a')
    for (const path of ['/extendedAgentCard', '/v1/card', '/agent/authenticatedExtendedCard']) {
      const response = await rest(path, key)
      assert.equal(response.status, 200, path)
      const shown = (await response.json()) as { description: string; skills: { name: string }[] }
      const names = shown.skills.map(({ name }) => name)
      assert.equal(shown.description, 'For those we know')
      assert.deepEqual(names.slice(-2), ['Repeat', 'Shout'], path)
    }
    await hub.stop()
  })

  it('require extensions of clients that send a message, including those of the hub, until the file changes', async () => {
    const agents = (more: string): string => `agents: { a: { kind: demo, agent: echo${more} } }\n`
    const hub = await start(agents(''))
    const ours: string = (await hub.card('a')).capabilities.extensions[0].uri
    await hub.change(agents(`, requiredExtensions: [urn:must, "${ours}"]`))
    await hub.waitForLine(/a: changed/)
    const { extensions } = (await hub.card('a')).capabilities
    assert.deepEqual(
      extensions.filter((one: { required?: boolean }) => one.required === true).map((one: { uri: string }) => one.uri),
      [ours, 'urn:must'],
    )
    assert.ok(extensions.find((one: { uri: string }) => one.uri === ours).description.length > 0)
    const url = `${hub.url}/a2a/a`
    const refused = await call1_0(url, 'hi', { 'A2A-Extensions': 'urn:must' })
    assert.equal(refused.json.error.code, -32_008)
    assert.match(refused.json.error.message, new RegExp(ours))
    assert.equal((await call1_0(url, 'hi', { 'A2A-Extensions': `urn:must, ${ours}` })).text, 'hi')
    const from = hub.lines.length
    await hub.change(agents(''))
    await hub.waitForLine(/a: changed/, from)
    assert.equal((await call1_0(url, 'hi')).text, 'hi')
    await hub.stop()
  })
})

describe('a stream of a hub', { timeout: 120_000 }, () => {
  it('stays open while the agent waits for input, if configured [full]', async () => {
    const hub = await start(`
agents:
  ends: { kind: demo, agent: concierge }
  stays: { kind: demo, agent: concierge, keepOpenOnInputRequired: true }
`)
    const stream = async (agent: string) => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'book a table' }] }
      const leaving = new AbortController()
      const response = await fetch(`${hub.url}/a2a/${agent}/message:stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({ message }),
        signal: leaving.signal,
      })
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      assert.ok(reader !== undefined)
      let text = ''
      while (!text.includes('TASK_STATE_INPUT_REQUIRED')) {
        const { done, value } = await reader.read()
        assert.ok(!done, text)
        text += value
      }
      return { reader, task: /"taskId":"([^"]+)"/.exec(text)?.[1] ?? /"id":"([^"]+)"/.exec(text)?.[1], leaving }
    }
    const ends = await stream('ends')
    while (!(await ends.reader.read()).done);
    const stays = await stream('stays')
    const answer = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: 'cancel it' }],
      taskId: stays.task,
    }
    const sent = await fetch(`${hub.url}/a2a/stays/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ message: answer, configuration: { returnImmediately: true } }),
    })
    assert.equal(sent.status, 200)
    // Events after the answer arrive on the stream that was open before it.
    assert.equal((await stays.reader.read()).done, false)
    stays.leaving.abort()
    await stays.reader.closed.catch(() => {})
    await hub.stop()
  })
})

describe('parley config check', () => {
  it('reports all errors of cards and addresses at once', async () => {
    const folder = await newFolder({
      'parley.yaml': `default: none
card: { omitInterfaces: [JSONRPC, HTTP+JSON, GRPC] }
grpcUrl: agents.example.com:443
listen: { port: 3000, grpcPort: 3001 }
agents:
  a: { kind: demo, agent: echo, default: true, grpcPort: 3001 }
  b: { kind: demo, agent: echo, grpcPort: 3102, grpcUrl: Agents.example.com:443 }
  c: { kind: demo, agent: echo, grpcPort: 3102, grpcUrl: "nowhere", card: { omitInterfaces: [GRPC] } }
`,
    })
    const { code, lines } = await runInProcess(folder, ['config', 'check'])
    assert.equal(code, 1)
    const text = lines.join('\n')
    for (const problem of [
      /:6 {2}agents\.a\.default: conflicts with `default: none`/,
      /:6 {2}agents\.a\.grpcPort: is already used by listen\.grpcPort/,
      /:7 {2}agents\.b\.grpcUrl: is already used by grpcUrl/,
      /:8 {2}agents\.c\.grpcUrl: must be host:port/,
      /:2 {2}card\.omitInterfaces: must leave at least one interface on the card of a/,
    ]) {
      assert.match(text, problem)
    }
  })
})
