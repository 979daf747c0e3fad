/** `parley` in a folder that another person wrote: looking at it runs no program of it, and no key of the user leaves the machine. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { commands } from '../../packages/hub/src/cli/commands.ts'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { newFolder, runParley, startHub } from './running-hub.ts'

const providers = `secrets:
  program: { command: [sh, -c, 'touch "marker-$1"; echo a-value-of-the-program', sh, "{name}"] }
  module: { module: ./provider.mjs }
`
const moduleFile = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('marker-module', import.meta.url), '')
export default { read: async () => 'postgres://127.0.0.1:9/nothing' }
`
const everywhere = `${providers}listen: { host: "\${program:host}", port: 1 }
admin: { key: "\${program:key}" }
store: { url: "\${module:url}", masterKey: "\${program:master}" }
agents:
  gpt: { kind: openai, baseUrl: "http://127.0.0.1:9/v1", model: m, apiKey: "\${program:gpt}" }
`
const inAgentOnly = `${providers}agents:
  gpt: { kind: openai, baseUrl: "http://127.0.0.1:9/v1", model: m, apiKey: "\${program:gpt}" }
`

async function run(cwd: string, environment: Record<string, string>, ...words: string[]) {
  const terminal = createTestTerminal({ cwd, environment: { PATH: process.env['PATH'], ...environment } })
  terminal.input.end('a value')
  terminal.shutDown()
  const code = await runCli(words, terminal)
  return { code, text: terminal.printed.join('\n'), errors: terminal.errors }
}

const foreign = (text: string) => newFolder({ 'parley.yaml': text, 'provider.mjs': moduleFile })
const markersIn = async (folder: string) => (await readdir(folder)).filter((name) => name.startsWith('marker-'))

const more: Readonly<Record<string, readonly string[]>> = {
  init: ['new'],
  backup: ['file'],
  restore: ['file'],
  export: ['file'],
  import: ['file'],
  completion: ['bash'],
  'agent add': ['--kind', 'a2a', 'http://127.0.0.1:9'],
  'agent remove': ['gpt'],
  'key create': ['--agent', 'gpt'],
  'key revoke': ['id'],
  'key rotate': ['admin'],
  'session end': ['id'],
  'secret set': ['name'],
  'secret remove': ['name'],
  erase: ['--caller', 'x', '--yes'],
}
/** Commands that need no such value, or report that it was not read among other things. */
const withoutSecrets = [
  'agent add',
  'agent remove',
  'completion',
  'config check',
  'config print',
  'config schema',
  'doctor',
  'init',
]

describe('parley in a folder of another person', { timeout: 300_000 }, () => {
  for (const { name, options } of commands.filter((command) => command.name !== 'up')) {
    it(`starts no provider of secrets for \`parley ${name}\``, async () => {
      const folder = await foreign(everywhere)
      const named = options.some((option) => option.name === 'config') ? ['-c', 'parley.yaml'] : []
      const { code, errors } = await run(folder, {}, ...name.split(' '), ...named, ...(more[name] ?? []))
      assert.deepEqual(await markersIn(folder), [])
      if (withoutSecrets.includes(name)) return
      assert.notEqual(code, 0)
      assert.match(errors.join('\n'), /^.*parley\.yaml:\d+ {2}\S+: \$\{\w+:\w+\} was not read: add --run-secrets .*\.$/)
    })
  }

  it('starts none as a program either', async () => {
    const folder = await foreign(everywhere)
    const { code, lines } = await runParley(folder, ['status'])
    assert.deepEqual([code, await markersIn(folder)], [1, []])
    assert.match(
      lines.join('\n'),
      /^\S+parley\.yaml:4 {2}listen\.host: \$\{program:host\} was not read: add --run-secrets/,
    )
  })

  it('starts them with --run-secrets and PARLEY_RUN_SECRETS=1', async () => {
    for (const [environment, ...words] of [[{}, '--run-secrets'], [{ PARLEY_RUN_SECRETS: '1' }]] as const) {
      const folder = await foreign(inAgentOnly)
      assert.match((await run(folder, environment, 'config', 'check', ...words)).text, /is valid: gpt\.$/)
      assert.deepEqual(await markersIn(folder), ['marker-gpt'])
    }
    const folder = await foreign(everywhere)
    await run(folder, {}, 'verify', '--run-secrets')
    assert.deepEqual((await markersIn(folder)).includes('marker-module'), true)
    const other = await foreign(inAgentOnly)
    await run(other, { PARLEY_RUN_SECRETS: '0' }, 'config', 'check')
    assert.deepEqual(await markersIn(other), [])
  })

  it('checks and prints everything else', async () => {
    const folder = await foreign(everywhere)
    const { code, text } = await run(folder, {}, 'config', 'check')
    assert.equal(code, 0)
    assert.match(
      text,
      /is valid: gpt\.\nNot read, and not checked here: listen\.host, admin\.key, store\.url, .*--run-secrets/,
    )
    const json = JSON.parse((await run(folder, {}, 'config', 'check', '-o', 'json')).text)
    assert.deepEqual(json.notRead[1], { line: 5, path: 'admin.key', message: '${program:key} was not read' })
    const printed = await run(folder, {}, 'config', 'print')
    assert.match(printed.text, /^ {2}masterKey: \$\{program:master\}$/m)
    const wrong = await foreign(everywhere.replace('model: m', 'modle: m'))
    const { code: failure, errors } = await run(wrong, {}, 'config', 'check')
    assert.equal(failure, 1)
    assert.deepEqual(
      errors.map((line) => line.replace(/^.*parley\.yaml/, '')),
      [
        ':8  agents.gpt.model: is missing: must be a string',
        ':8  agents.gpt.modle: unknown setting: did you mean model?',
      ],
    )
  })

  it('asks the hub although a secret of an agent was not read', async () => {
    const folder = await foreign(inAgentOnly)
    const hub = await startHub(folder)
    assert.deepEqual(await markersIn(folder), ['marker-gpt'])
    const status = await run(folder, {}, 'key', 'list')
    assert.deepEqual([status.code, status.errors], [0, []])
    const doctor = await run(folder, {}, 'doctor')
    assert.match(
      doctor.text,
      /^warning +configuration .*agents\.gpt\.apiKey: \$\{program:gpt\} was not read\n.*--run-secrets/m,
    )
    await hub.stop()
  })

  it('does not show what a provider wrote to stderr', async () => {
    const failing = inAgentOnly.replace("'touch", "'echo sesame >&2; exit 3; touch")
    const { code, text, errors } = await run(await foreign(failing), {}, 'config', 'check', '--run-secrets')
    assert.equal(code, 1)
    assert.match(errors.join('\n'), /sh failed with 3$/)
    assert.doesNotMatch(text + errors.join('\n'), /sesame/)
  })
})

/** A program that has the port, and what it received. */
async function stranger(
  t: TestContext,
  port: number,
  answer?: (request: IncomingMessage, body: string) => Promise<string>,
  host = '127.0.0.1',
) {
  const requests: string[] = []
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`)
    response.setHeader('content-type', 'application/json')
    response.end((await answer?.(request, body)) ?? '{"status":"ok","keys":[],"agents":[]}')
  }
  const server = createServer((request, response) => void reply(request, response))
  await once(server.listen(port, host), 'listening')
  t.after(() => server.close().closeAllConnections())
  return { requests, url: `http://${host}:${(server.address() as AddressInfo).port}` }
}

function relayTo(hub: string) {
  return async ({ method = '', url: path = '' }: IncomingMessage, body: string): Promise<string> => {
    const init = { method, body, headers: { 'content-type': 'application/json' } }
    return (await fetch(new URL(path, hub), method === 'GET' ? {} : init)).text()
  }
}

describe('the admin key', { timeout: 300_000 }, () => {
  const key = 'the-admin-key-of-the-user'

  it('of the environment goes to no other machine that only the folder names', async () => {
    const folder = await newFolder({
      'parley.yaml':
        'listen: { host: hub.elsewhere.test, port: 3000 }\nagents: { echo: { kind: demo, agent: echo } }\n',
    })
    const byReference = await newFolder({
      'parley.yaml':
        'listen: { host: hub.elsewhere.test, port: 3000 }\nadmin: { key: "${env:OTHER}" }\nagents: { echo: { kind: demo, agent: echo } }\n',
    })
    for (const [cwd, name] of [
      [folder, 'PARLEY_ADMIN_KEY'],
      [byReference, 'OTHER'],
    ] as const) {
      const { code, errors } = await run(cwd, { [name]: key }, 'status')
      assert.equal(code, 4)
      assert.match(
        errors.join('\n'),
        /is not sent to http:\/\/hub\.elsewhere\.test:3000.*--url http:\/\/hub\.elsewhere/,
      )
      const named = await run(cwd, { [name]: key }, 'status', '--url', 'http://hub.elsewhere.test:3000')
      assert.equal(named.code, 3, named.errors.join('\n'))
    }
    const mcp = await run(folder, { PARLEY_KEY: key }, 'mcp')
    assert.match(mcp.errors.join('\n'), /^The API key is not sent to http:\/\/hub\.elsewhere\.test:3000.*--hub/)
  })

  it('cannot be given to an agent, a store or a provider by the configuration', async () => {
    const agent = (text: string) => `agents: { gpt: { kind: a2a, url: "http://elsewhere.test/${text}" } }\n`
    for (const [configuration, place] of [
      [agent('${env:PARLEY_ADMIN_KEY}'), 'agents.gpt'],
      [`store: "postgres://u:\${env:PARLEY_ADMIN_KEY}@elsewhere.test/db"\n${agent('')}`, 'store'],
      [`store: { url: "postgres://u:\${env:PARLEY_MASTER_KEY}@elsewhere.test/db" }\n${agent('')}`, 'store.url'],
      [`secrets: { p: { command: [cat], env: { K: "\${env:PARLEY_ADMIN_KEY}" } } }\n${agent('')}`, 'secrets.p'],
    ] as const) {
      const folder = await newFolder({ 'parley.yaml': configuration })
      const environment = { PARLEY_ADMIN_KEY: key, PARLEY_MASTER_KEY: key }
      // `verify` reads no agents.
      for (const command of ['config check', 'doctor', ...(place.startsWith('store') ? ['verify'] : [])]) {
        const { code, errors, text } = await run(folder, environment, ...command.split(' '))
        assert.notEqual(code, 0, command)
        const expected = `cannot be used here: it is a key of the hub, which ${place} must not receive`
        assert.ok([...errors, text].join('\n').includes(expected), `${command}: ${errors.join('\n')} ${text}`)
      }
    }
  })

  it('and other values of the environment are not sent by doctor to an agent of the folder on another machine', async (t) => {
    const { requests, url } = await stranger(t, 0)
    const urls = [
      'http://elsewhere.test/${env:TOKEN}',
      'http://${env:TOKEN}.elsewhere.test',
      `${url}/\${env:TOKEN}`,
      '${env:ADDRESS}',
    ]
    const entries = urls.map((one, index) => `  a${index}: { kind: a2a, url: "${one}" }`)
    const folder = await newFolder({ 'parley.yaml': `listen: { port: 0 }\nagents:\n${entries.join('\n')}\n` })
    const { text } = await run(folder, { TOKEN: 'the-token', ADDRESS: `${url}/own` }, 'doctor')
    assert.match(text, /^warning +agent a0 +not called: its address .*\n[^]*^warning +agent a1 +not called: /m)
    // What is on this machine, and what the environment names, are asked.
    assert.deepEqual(new Set(requests.map((request) => request.split(' ')[1])), new Set(['/own', '/the-token']))
  })

  it('opens the console where the hub says, not where the folder says', async () => {
    const folder = await newFolder({
      'parley.yaml': 'publicUrl: https://hub.example.com\nagents: { echo: { kind: demo, agent: echo } }\n',
    })
    const hub = await startHub(folder, [], { PARLEY_ADMIN_KEY: key })
    const clone = await newFolder({
      'parley.yaml': 'publicUrl: https://elsewhere.test\nagents: { echo: { kind: demo, agent: echo } }\n',
    })
    const at = ['--port', new URL(hub.url).port]
    for (const cwd of [folder, clone]) {
      const { text } = await run(cwd, { PARLEY_ADMIN_KEY: key }, 'open', '--print', ...at)
      assert.match(text, /^https:\/\/hub\.example\.com\/#code=[\w-]{43}$/)
    }
    await hub.stop()
  })

  it('is not sent to a program on the port of a hub that was killed', async (t) => {
    const folder = await newFolder()
    const hub = await startHub(folder)
    const own = await hub.adminKey()
    assert.equal((await run(folder, {}, 'status')).code, 0)
    hub.signal('SIGKILL')
    await assert.rejects(hub.waitForLine(/never/))
    const { requests, url } = await stranger(t, Number(new URL(hub.url).port))
    for (const words of [['status'], ['key', 'list'], ['logs'], ['agent', 'list'], ['open', '--print']]) {
      const { code, errors } = await run(folder, {}, ...words)
      assert.equal(code, 4)
      assert.match(
        errors.join('\n'),
        new RegExp(`^The program at ${url} did not prove that it knows the admin key of `),
      )
    }
    assert.ok(requests.length > 0)
    for (const request of requests) assert.ok(!request.includes(own) && !request.includes('authorization'), request)
  })

  // Other systems have only 127.0.0.1 of the network 127.
  const skip = process.platform === 'linux' ? false : 'needs a second address of loopback'
  it('is not sent to a program that has the hub of the same port answer for it', { skip }, async (t) => {
    const folder = await newFolder()
    const hub = await startHub(folder, [], { PARLEY_ADMIN_KEY: key })
    const port = Number(new URL(hub.url).port)
    const { requests } = await stranger(t, port, relayTo(hub.url), '127.0.0.2')
    const listen = `listen: { host: 127.0.0.2, port: ${port} }\nagents: { echo: { kind: demo, agent: echo } }\n`
    const clone = await newFolder({ 'parley.yaml': listen })
    const { code, errors } = await run(clone, { PARLEY_ADMIN_KEY: key }, 'status')
    assert.equal(code, 4, errors.join('\n'))
    assert.match(errors.join('\n'), /did not prove that it knows the admin key of PARLEY_ADMIN_KEY/)
    assert.ok(requests.length === 1 && !requests[0]?.includes(key), requests.join('\n'))
    await hub.stop()
  })

  it('is not sent to a program that has another hub with the same key answer for it', async (t) => {
    const folder = await newFolder()
    const hub = await startHub(folder, [], { PARLEY_ADMIN_KEY: key })
    const { requests, url } = await stranger(t, 0, relayTo(hub.url))
    const { code, errors } = await run(folder, { PARLEY_ADMIN_KEY: key }, 'status', '--port', new URL(url).port)
    assert.equal(code, 4)
    assert.match(errors.join('\n'), /did not prove that it knows the admin key of PARLEY_ADMIN_KEY/)
    assert.ok(requests.length === 1 && !requests[0]?.includes(key), requests.join('\n'))
    assert.equal((await run(folder, { PARLEY_ADMIN_KEY: key }, 'status')).code, 0)
    await hub.stop()
    assert.ok(!(await readdir(join(folder, '.parley'))).includes('parley.address'))
  })
})
