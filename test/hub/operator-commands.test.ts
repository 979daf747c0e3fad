/** `parley status`, `agent list | remove`, `logs` and `doctor` on a running hub, and their exit codes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { freePort } from '../free-port.ts'
import { newFolder, startHub } from './running-hub.ts'

const config = `agents:
  echo: { kind: demo, agent: echo }
  broken: { kind: module, path: ./missing.ts }
`

async function run(cwd: string, environment: Record<string, string>, ...words: string[]) {
  const terminal = createTestTerminal({ cwd, environment })
  const code = await runCli(words, terminal)
  const text = terminal.printed.join('\n')
  return { code, text, errors: terminal.errors.join('\n'), json: () => JSON.parse(text) as Record<string, any> }
}

describe('the commands of an operator', { timeout: 300_000 }, () => {
  it('set, list and remove the secrets that the hub keeps, and say which one is missing', async () => {
    const entry = 'kind: openai, baseUrl: "http://127.0.0.1:2/v1", model: m, apiKey: "${hub:gpt}"'
    const folder = await newFolder({ 'parley.yaml': `agents: { gpt: { ${entry} } }\n` })
    const offline = await run(folder, {}, 'config', 'check')
    assert.deepEqual([offline.code, /^Kept by the hub, and not checked here: gpt\./m.test(offline.text)], [0, true])
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const doctor = await run(folder, env, 'doctor')
    assert.match(
      doctor.text,
      /^failed +agent gpt +the secret \$\{hub:gpt\} is not set: set it with `parley secret set gpt`$/m,
    )
    assert.match((await run(folder, env, 'secret', 'list')).text, /^gpt +not set +gpt$/m)

    const terminal = createTestTerminal({ cwd: folder, environment: env })
    terminal.input.end('sk-sesame-of-the-command\n')
    assert.equal(await runCli(['secret', 'set', 'gpt'], terminal), 0)
    assert.deepEqual([terminal.printed, terminal.errors], [['Set gpt. Used by gpt.'], []])
    assert.match((await run(folder, env, 'secret', 'list')).text, /^gpt +20\S+Z +admin +gpt$/m)
    const used = await run(folder, env, 'secret', 'remove', 'gpt')
    assert.deepEqual([used.code, used.errors.startsWith('gpt uses the secret gpt')], [1, true])

    const argument = await run(folder, env, 'secret', 'set', 'gpt', 'sk-sesame')
    assert.deepEqual([argument.code, /must not be an argument/.test(argument.errors)], [2, true])
    const other = createTestTerminal({ cwd: folder, environment: env })
    other.input.end('unused')
    await runCli(['secret', 'set', 'other'], other)
    assert.match(other.printed.join(), /No agent uses it yet: refer to it as \$\{hub:other\}/)
    assert.equal((await run(folder, env, 'secret', 'remove', 'other')).text, 'Removed other.')
    await hub.stop()
    assert.doesNotMatch(hub.lines.join('\n'), /sk-sesame/)
  })

  it('show the state of a running hub and its agents', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }

    const status = await run(folder, env, 'status')
    assert.equal(status.code, 1, 'an agent is down')
    assert.match(status.text, /^Status {3}degraded$/m)
    assert.match(status.text, /^Agents {3}1 of 2 up; down: broken \(.*missing\.ts.*\)$/m)
    assert.equal((await run(folder, env, 'status', '-o', 'json')).json()['status'], 'degraded')

    const agents = await run(folder, env, 'agent', 'list')
    assert.equal(agents.code, 0)
    assert.match(agents.text, /^NAME {4}KIND {4}STATE {8}URL$/m)
    assert.match(agents.text, /^echo {4}demo {4}up {11}http:\S+\/a2a\/echo$/m)
    assert.match(agents.text, /^broken {2}module {2}unavailable/m)
    assert.match(agents.errors, /^broken: .*missing\.ts/m)

    const doctor = await run(folder, env, 'doctor')
    assert.equal(doctor.code, 1)
    assert.match(doctor.text, /^ok +hub +running at /m)
    assert.match(doctor.text, /^failed +agent broken .*missing\.ts.*\n +→ Correct the file, or its `path`/m)

    const quiet = await startHub(await newFolder())
    const log = await run(folder, env, 'logs', '--level', 'warn', '-o', 'json')
    assert.equal(log.code, 0)
    const lines = log.text.split('\n').map((line) => JSON.parse(line) as { level: string })
    assert.ok(lines.length > 0 && lines.every(({ level }) => ['warn', 'error'].includes(level)))
    assert.match((await run(folder, env, 'logs')).text, /^\S+Z INFO {2}the hub started url=http:\S+ version=/m)
    const none = await run(folder, { ...env, PARLEY_URL: quiet.url, PARLEY_ADMIN_KEY: await quiet.adminKey() }, 'logs', '--level', 'error') // prettier-ignore
    assert.deepEqual([none.code, none.text, none.errors], [0, '', 'No lines.'])
    await quiet.stop()
    assert.match((await run(folder, env, 'logs', '-n', '1')).text, /^\S+Z (INFO|WARN|ERROR) +\S/)
    assert.equal((await run(folder, env, 'logs', '-n', '0')).code, 2)

    assert.equal((await run(folder, env, 'agent', 'remove', 'brokn')).errors.endsWith('did you mean broken?'), true)
    const following = createTestTerminal({ cwd: folder, environment: env })
    const seen = Promise.withResolvers<void>()
    const followed = runCli(['logs', '-f', '-n', '1'], {
      ...following,
      print(line) {
        following.print(line)
        seen.resolve()
      },
    })
    await seen.promise
    following.shutDown()
    assert.equal(await followed, 0, following.errors.join('\n'))

    const reloaded = hub.waitForLine(/broken: removed/)
    assert.equal((await run(folder, env, 'agent', 'remove', 'broken')).code, 0)
    assert.equal(await readFile(join(folder, 'parley.yaml'), 'utf8'), 'agents:\n  echo: { kind: demo, agent: echo }\n')
    await reloaded
    assert.equal((await run(folder, env, 'status')).code, 0)
    await hub.stop()
  })

  it('end with an exit code for each kind of failure', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    const key = 'an-admin-key-of-32-characters-or-so'
    const gone = { PARLEY_URL: `http://127.0.0.1:${await freePort()}`, PARLEY_ADMIN_KEY: key }
    assert.equal((await run(folder, gone, 'status', '--nonsense')).code, 2)
    assert.equal((await run(folder, gone, 'status')).code, 3)

    const hub = await startHub(folder)
    assert.equal((await run(folder, { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: key }, 'status')).code, 4)
    await hub.stop()

    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const late = await run(folder, { PARLEY_URL: url, PARLEY_ADMIN_KEY: key }, 'status', '--timeout', '0.05')
    assert.deepEqual([late.code, late.errors], [5, `The hub at ${url} did not respond within 0.05 s.`])
    silent.closeAllConnections()
    silent.close()
  })

  it('lists the agents of the configuration if no hub runs', async () => {
    const port = await freePort()
    const folder = await newFolder({ 'parley.yaml': `listen: { port: ${port} }\nadmin: { key: an-admin-key-of-32-characters }\n${config}` }) // prettier-ignore
    const { code, json } = await run(folder, {}, 'agent', 'list', '-o', 'json')
    assert.equal(code, 0)
    assert.deepEqual(
      json()['agents'].map(({ name, state }: { name: string; state: string }) => [name, state]),
      [
        ['echo', 'not running'],
        ['broken', 'not running'],
      ],
    )
  })
})
