/** `parley key` on a running hub: the whole lifecycle of a key. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from '../free-port.ts'
import { call1_0 } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, terminalSkipReason, runParley, startHub } from './running-hub.ts'

const echo = 'agents: { gpt: { kind: demo, agent: echo } }\n'

describe('the admin key and parley key', { timeout: 300_000 }, () => {
  it('creates keys that authenticate, are listed and are revoked', async () => {
    const folder = await newFolder({
      'parley.yaml': 'agents:\n  gpt: { kind: demo, agent: echo }\n  other: { kind: demo, agent: echo }\naccess: {}\n',
    })
    const hub = await startHub(folder)
    const admin = await hub.adminKey()
    assert.ok(!hub.lines.some((line) => line.includes(admin)), 'what is no terminal is a log')
    assert.equal((await runInProcess(folder, ['key', 'list'], { PARLEY_URL: hub.url })).code, 0, 'the file is found')
    await rm(join(folder, '.parley/parley.admin-key'))
    const env = { PARLEY_ADMIN_KEY: admin, PARLEY_URL: hub.url }

    const created = await runParley(
      folder,
      ['key', 'create', '--agent', 'gpt', '--name', 'ci', '--expires', '30d'],
      env,
    )
    assert.equal(created.code, 0, created.lines.join('\n'))
    const key = created.lines.find((line) => /^\S+$/.test(line)) ?? ''
    const proof = { authorization: `Bearer ${key}` }
    assert.equal((await call1_0(`${hub.url}/a2a/gpt`, 'hi', proof)).text, 'hi')
    assert.equal((await call1_0(`${hub.url}/a2a/other`, 'hi', proof)).status, 403)

    const { lines } = await runInProcess(folder, ['key', 'list'], env)
    assert.equal(lines.length, 2)
    assert.match(lines[0] ?? '', /^ID +KEY +STATE +NAME +SCOPES +EXPIRES +LAST USED$/)
    assert.match(lines[1] ?? '', /active {2}ci {4}agent:gpt {2}20\S+Z {2}20/)
    assert.ok(!lines[1]?.includes(key))
    const [id = ''] = lines[1]?.split('  ') ?? []
    assert.equal((await runInProcess(folder, ['key', 'revoke', id], env)).code, 0)
    assert.equal((await call1_0(`${hub.url}/a2a/gpt`, 'hi', proof)).status, 401)
    assert.match((await runInProcess(folder, ['key', 'list'], env)).lines[1] ?? '', /revoked/)

    const unknown = await runInProcess(folder, ['key', 'create', '--agent', 'nope'], env)
    assert.deepEqual([unknown.code, unknown.lines], [2, ['--agent: unknown agent nope: use one of gpt, other']])
    for (const wrong of ['agent:gpt', 'gpt,other']) {
      const { code, lines } = await runInProcess(folder, ['key', 'create', '--agent', wrong], env)
      const message = `--agent must be the name of one agent, without agent:, not "${wrong}". Repeat --agent for several.`
      assert.deepEqual([code, lines], [2, [message]])
    }
    const endless = await runInProcess(folder, ['key', 'create', '--agent', 'gpt', '--expires', '30'], env)
    assert.deepEqual(
      [endless.code, endless.lines],
      [2, ['--expires: must be a duration with its unit, such as 30s, 10m, 12h or 7d']],
    )
    const missing = await runInProcess(folder, ['key', 'revoke', 'zzz'], env)
    assert.deepEqual([missing.code, missing.lines], [1, ['Unknown key zzz']])

    const wrong = await runInProcess(folder, ['key', 'list'], { ...env, PARLEY_ADMIN_KEY: 'not the admin key at all' })
    assert.deepEqual(
      [wrong.code, wrong.lines],
      [4, ['The admin key is wrong. Check the admin key in PARLEY_ADMIN_KEY.']],
    )
    const without = await runInProcess(folder, ['key', 'list'], { PARLEY_URL: hub.url })
    assert.equal(without.code, 4)
    assert.match(without.lines.join(), /The hub runs at \S+, but its admin key is not in \S+\. Set PARLEY_ADMIN_KEY\./)
    await hub.stop()

    const again = await startHub(folder)
    assert.match(await again.waitForLine(/The admin key is/), /is still valid, but not in .*parley\.admin-key/)
    assert.deepEqual((await readdir(join(folder, '.parley'))).includes('parley.admin-key'), false)
    assert.equal((await runInProcess(folder, ['key', 'list'], { ...env, PARLEY_URL: again.url })).code, 0)
    await again.stop()
    const gone = await runInProcess(folder, ['key', 'list'], env)
    assert.match(gone.lines.join(), /No hub responds at/)
  })

  it(
    'is in a file on a terminal, too: the commands of a second terminal need no setting',
    { skip: terminalSkipReason },
    async () => {
      const port = String(await freePort())
      const folder = await newFolder({ 'parley.yaml': `listen: { port: ${port}, grpcPort: false }\n${echo}` })
      const hub = await startHub(folder, [], { PORT: '' }, true)
      const file = join(folder, '.parley/parley.admin-key')
      assert.match(await hub.waitForLine(/The admin key is/), /parley\.admin-key/)
      const key = (await readFile(file, 'utf8')).trim()
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      assert.match(await hub.waitForLine(/See it in a browser/), /\/#code=[\w-]{43}\s*$/)
      assert.ok(!hub.lines.some((line) => line.includes(key)))
      for (const command of [
        'status',
        'logs',
        'key list',
        'session list',
        'audit export',
        'agent list',
        'open --print',
      ]) {
        const { code, lines } = await runInProcess(folder, command.split(' '))
        assert.equal(code, 0, `${command}: ${lines.join('\n')}`)
        assert.ok(!lines.join().includes('not running'), command)
      }
      await rm(file)
      for (const command of [
        'agent list',
        'status',
        'logs',
        'key list',
        'session list',
        'audit export',
        'open',
        'prune',
      ]) {
        const { code, lines } = await runInProcess(folder, command.split(' '))
        assert.equal(code, 4, `${command}: ${lines.join('\n')}`)
        assert.match(lines.join(), /The hub runs at \S+, but its admin key is not in .*parley key rotate admin/)
      }
      await hub.stop()
      const stopped = await runInProcess(folder, ['status'])
      assert.deepEqual([stopped.code, /No hub responds/.test(stopped.lines.join())], [3, true])
      const other = createServer((_, response) => response.writeHead(404).end()).listen(Number(port), '127.0.0.1')
      await once(other, 'listening')
      const taken = await runInProcess(folder, ['status'])
      assert.deepEqual([taken.code, /: another program does\./.test(taken.lines.join())], [3, true])
      other.close()
    },
  )

  it('is in the file although the first start found its port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const taken = String((other.address() as AddressInfo).port)
    const folder = await newFolder({ 'parley.yaml': `listen: { grpcPort: false }\n${echo}` })
    const { code, lines } = await runParley(folder, ['up', '--port', taken], { PORT: '' })
    assert.deepEqual([code, /already in use/.test(lines.join())], [1, true])
    other.close()
    const hub = await startHub(folder)
    assert.match(await hub.waitForLine(/The admin key is/), /The admin key is in .*parley\.admin-key/)
    assert.equal((await runInProcess(folder, ['status'])).code, 0)
    await hub.stop()
  })

  it('reaches a hub at another port, also while its file is invalid', async () => {
    const unused = String(await freePort())
    const folder = await newFolder({ 'parley.yaml': `listen: { port: ${unused}, grpcPort: false }\n${echo}` })
    const hub = await startHub(folder)
    const address = (await readFile(join(folder, '.parley/parley.address'), 'utf8')).trim()
    assert.equal(address, hub.url)
    for (const command of ['status', 'agent list', 'logs', 'open --print', 'doctor'])
      assert.equal((await runInProcess(folder, command.split(' '))).code, 0, command)
    assert.equal((await runInProcess(folder, ['status', '--port', unused])).code, 3, 'a flag wins')
    await writeFile(join(folder, 'parley.yaml'), 'agents: { gpt: { kind: openai, apiKey: "${env:NOT_SET}" } }\n')
    for (const command of ['status', 'agent list', 'logs', 'key list']) {
      const { code, lines } = await runInProcess(folder, command.split(' '))
      assert.equal(code, 0, `${command}: ${lines.join()}`)
      assert.match(
        lines.join(),
        /The configuration is invalid; the hub at \S+ is asked all the same\. .*parley\.yaml:1/,
      )
    }
    const entry = 'kind: openai, model: m, baseUrl: "http://127.0.0.1:2/v1", apiKey: "${env:NOT_SET}"'
    await writeFile(join(folder, 'parley.yaml'), `agents: { gpt: { ${entry} } }\n`)
    const { lines } = await runInProcess(folder, ['status'])
    assert.equal(
      lines.filter((line) => line.startsWith('This terminal lacks NOT_SET, which')).length,
      1,
      lines.join('\n'),
    )
    // `Config` is what the hub has made of the file.
    const ownLines = lines.filter((line) => !line.startsWith('Config '))
    assert.doesNotMatch(ownLines.join('\n'), /invalid|before the hub starts/)
    await writeFile(join(folder, '.parley/parley.admin-key'), 'the-key-of-an-earlier-start\n')
    const stale = await runInProcess(folder, ['status'])
    assert.equal(stale.code, 4)
    assert.match(
      stale.lines.join('\n'),
      /has another admin key than \S+admin-key: it was started with PARLEY_ADMIN_KEY/,
    )
    await hub.stop()
    assert.deepEqual((await readdir(join(folder, '.parley'))).includes('parley.address'), false)
  })

  it('is created again for those who can read the folder, while the hub does not run', async () => {
    const port = String(await freePort())
    const folder = await newFolder({ 'parley.yaml': `listen: { port: ${port}, grpcPort: false }\n${echo}` })
    const rotate = ['key', 'rotate', 'admin', '--overlap', 'off']
    assert.deepEqual((await runInProcess(folder, rotate)).code, 3, 'there is no store')
    const hub = await startHub(folder, [], { PORT: port })
    const lost = await hub.adminKey()
    await rm(join(folder, '.parley/parley.admin-key'))
    assert.equal((await runInProcess(folder, rotate)).code, 4, 'the hub runs')
    await hub.stop()
    const configured = await runInProcess(folder, rotate, { PARLEY_ADMIN_KEY: 'a-key-of-the-operator' })
    assert.match(configured.lines.join(), /is set by PARLEY_ADMIN_KEY or `admin\.key`/)
    const { code, lines } = await runInProcess(folder, rotate)
    assert.equal(code, 0, lines.join('\n'))
    assert.match(lines.join('\n'), /It is in .*parley\.admin-key now\.\nThe previous key is no longer valid\./)
    const again = await startHub(folder, [], { PORT: port })
    assert.equal(await again.adminKey(), lines[0])
    assert.equal((await runInProcess(folder, ['status'])).code, 0)
    assert.equal((await runInProcess(folder, ['status'], { PARLEY_ADMIN_KEY: lost })).code, 4)
    await again.stop()
  })

  it('is the same for a store in memory after a restart', async () => {
    const folder = await newFolder({ 'parley.yaml': echo })
    const hub = await startHub(folder, ['--store', 'memory:'])
    const key = await hub.adminKey()
    await hub.stop()
    const file = join(folder, '.parley/parley.admin-key')
    await chmod(file, 0o644)
    const again = await startHub(folder, ['--store', 'memory:'])
    assert.equal(await again.adminKey(), key)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal((await runInProcess(folder, ['status', '--url', again.url])).code, 0)
    await again.stop()
  })

  it('finds the hub by the configuration, which may contain the admin key', async () => {
    const port = await freePort()
    const folder = await newFolder({
      'parley.yaml': `
listen: { port: ${port}, grpcPort: false }
admin: { key: "\${env:ADMIN}" }
agents: { gpt: { kind: demo, agent: echo } }
`,
    })
    const env = { ADMIN: 'one that we keep ourselves' }
    const hub = await startHub(folder, ['--port', String(port)], env)
    assert.ok(hub.lines.includes('The admin key is that of `admin.key` of the configuration'))
    assert.ok(!hub.lines.some((line) => line.includes(env.ADMIN)))
    const { code, lines } = await runInProcess(folder, ['key', 'create', '--scope', 'agent:*'], env)
    assert.equal(code, 0, lines.join('\n'))
    await hub.stop()
  })
})
