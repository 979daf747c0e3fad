/** The hub from its configuration file: what it serves, what it prints, and when it refuses to start. */
import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call0_3, call1_0, cardOf } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, startHub } from './running-hub.ts'

const greeter = 'export default ({ text }: { text: string }) => `Hello, ${text}!`\n'
const options = { timeout: 120_000 }

describe('a hub from a file', options, () => {
  it('serves the configured agents to clients of each version, and the default agent without a name [S4-1]', async () => {
    const folder = await newFolder({
      'greeter.ts': greeter,
      'parley.yaml': `
agents:
  greeter: { kind: module, path: ./greeter.ts }
  echo: { kind: demo, agent: echo, default: true, name: Mirror }
`,
    })
    const hub = await startHub(folder)
    assert.equal((await call1_0(`${hub.url}/a2a/greeter`, 'you')).text, 'Hello, you!')
    assert.equal((await call0_3(`${hub.url}/a2a/greeter`, 'you')).text, 'Hello, you!')
    assert.equal((await call1_0(`${hub.url}/a2a`, 'again')).text, 'again')
    assert.equal((await cardOf(hub.url)).name, 'Mirror')
    assert.equal((await cardOf(`${hub.url}/a2a/greeter`)).name, 'greeter')
    const { code } = await hub.stop()
    assert.equal(code, 0)
  })

  it('reads flags over the environment over the file', async () => {
    const folder = await newFolder({
      'other.yaml': 'agents: { e: { kind: demo, agent: echo } }\nstore: sqlite:./x.db\n',
    })
    const hub = await startHub(folder, ['-c', 'other.yaml', '--store', 'memory:'], { PARLEY_STORE: 'sqlite:./y.db' })
    await hub.waitForLine(/^Tasks are stored in memory/)
    await hub.stop()
  })

  it('reports all errors of a file, and does not start', async () => {
    const folder = await newFolder({ 'parley.yaml': 'agents:\n  a: { kind: demo }\n  b: { kind: dmeo }\nlimts: {}\n' })
    const { code, lines } = await runInProcess(folder, ['up'])
    assert.equal(code, 1)
    assert.deepEqual(
      lines.map((line) => line.replace(/^.*parley\.yaml:/, '')),
      [
        '2  agents.a.agent: is missing: must be echo, clock, concierge or rehearsal',
        '3  agents.b.kind: unknown kind: did you mean demo?',
        '4  limts: unknown setting: did you mean limits?',
      ],
    )
  })

  it('reports that its port is in use', async () => {
    const first = await startHub(await newFolder())
    const { port } = new URL(first.url)
    const folder = await newFolder()
    const { code, lines } = await runInProcess(folder, ['up', '--port', port])
    assert.deepEqual([code, lines], [1, [`Port ${port} is already in use: choose another with --port.`]])
    assert.deepEqual(await readdir(folder), [], 'nothing is left behind')
    const grpc = await runInProcess(await newFolder(), ['up', '--port', '0', '--grpc-port', port])
    assert.deepEqual([grpc.code, grpc.lines], [1, [`Port ${port} is already in use: choose another with --grpc-port.`]])
    await first.stop()
  })

  it('starts without an agent that cannot be opened, reports it, and opens it later', async () => {
    const folder = await newFolder({
      'parley.yaml': 'agents:\n  late: { kind: module, path: ./late.ts }\n  echo: { kind: demo, agent: echo }\n',
    })
    const hub = await startHub(folder)
    await hub.waitForLine(/late .*is not available: the file \.\/late\.ts does not exist/)
    assert.equal((await call1_0(`${hub.url}/a2a/echo`, 'hi')).text, 'hi')
    const refused = await call1_0(`${hub.url}/a2a/late`, 'hi')
    assert.equal(refused.json.error.code, -32093)
    assert.ok(!refused.headers.has('retry-after'))
    assert.match((await cardOf(`${hub.url}/a2a/late`)).description, /not available at the moment/)
    await writeFile(join(folder, 'late.ts'), greeter)
    let answer = refused
    while (answer.json.error !== undefined) answer = await call1_0(`${hub.url}/a2a/late`, 'you')
    assert.equal(answer.text, 'Hello, you!')
    await hub.stop()
  })

  it('serves cards, skills and privacy as configured [S0-14 S4-13]', async () => {
    const folder = await newFolder({
      'parley.yaml': `
publicUrl: https://hub.example.com
skillBundles:
  office: [{ name: Read mail, tags: [mail] }, { name: Echo, description: from the bundle }]
agents:
  echo:
    kind: demo
    agent: echo
    description: Says it again.
    persona: Patient and terse.
    provider: { organization: Us, url: https://us.example.com }
    skillBundles: [office]
    skills: [{ name: Shout }]
  shy: { kind: demo, agent: echo, card: private }
access: { anonymous: [echo] }
`,
    })
    const hub = await startHub(folder)
    const card = await cardOf(`${hub.url}/a2a/echo`, { 'A2A-Version': '1.0' })
    assert.equal(card.description, 'Says it again.\n\nPatient and terse.')
    assert.equal(card.provider.organization, 'Us')
    assert.deepEqual(
      card.skills.map(({ name, description }: any) => [name, description]),
      [
        ['Echo', 'from the bundle'],
        ['Read mail', 'Read mail'],
        ['Shout', 'Shout'],
      ],
    )
    assert.ok(card.supportedInterfaces.every(({ url }: any) => url.includes('hub.example.com')))
    const old = await cardOf(`${hub.url}/a2a/echo`, { 'A2A-Version': '0.3' })
    assert.equal(old.capabilities.stateTransitionHistory, true)
    assert.equal((await fetch(`${hub.url}/a2a/shy/.well-known/agent-card.json`)).status, 401)
    await hub.stop()
  })

  it('signs cards if its public URL is configured, and publishes the key [B-34]', async () => {
    const agents = 'agents: { echo: { kind: demo, agent: echo } }\n'
    const folder = await newFolder({
      'parley.yaml': `${agents}publicUrl: https://hub.example.com\n`,
      'other.yaml': agents,
    })
    const signed = await startHub(folder, [], { PARLEY_STORE: 'memory:' })
    const card = await cardOf(`${signed.url}/a2a/echo`, { 'A2A-Version': '1.0' })
    assert.equal(card.signatures.length, 1)
    const { keys } = (await (await fetch(`${signed.url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }
    assert.ok(keys.length >= 1)
    await signed.stop()
    const plain = await startHub(folder, ['-c', 'other.yaml'], { PARLEY_STORE: 'memory:' })
    assert.equal((await cardOf(`${plain.url}/a2a/echo`, { 'A2A-Version': '1.0' })).signatures, undefined)
    await plain.stop()
  })
})

describe('a hub without access rules', options, () => {
  it('refuses to listen beyond loopback without access rules, unless started with --insecure', async () => {
    const folder = await newFolder()
    const { code, lines } = await runInProcess(folder, ['up'], { PORT: '0', BIND_HOST: '0.0.0.0' })
    assert.equal(code, 1)
    assert.match(lines.join('\n'), /Configure `access`, or start with --insecure/)
    const insecure = await startHub(folder, ['--insecure'], { BIND_HOST: '0.0.0.0' })
    await insecure.stop()
    const access = await newFolder({ 'parley.yaml': 'agents: { e: { kind: demo, agent: echo } }\naccess: {}\n' })
    const closed = await startHub(access, [], { BIND_HOST: '0.0.0.0' })
    assert.equal((await call1_0(`${closed.url.replace('localhost', '127.0.0.1')}/a2a/e`, 'hi')).status, 401)
    await closed.stop()
  })

  it('answers local requests only', async () => {
    const hub = await startHub(await newFolder())
    const { port } = new URL(hub.url)
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      const headers = { host: `evil.example.com:${port}`, 'content-type': 'application/json' }
      request({ port, host: '127.0.0.1', path: '/a2a/echo', method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).end('{}')
    })
    assert.equal(status, 403)
    await hub.stop()
  })
})
