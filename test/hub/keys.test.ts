/** `parley key` on a running hub: the whole lifecycle of a key. */
import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from '../free-port.ts'
import { call1_0 } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, terminalSkipReason, runParley, startHub } from './running-hub.ts'

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
    assert.match(lines[0] ?? '', /^ID +KEY +STATE +NAME +SCOPES +LAST USED$/)
    assert.match(lines[1] ?? '', /active {2}ci {4}agent:gpt/)
    assert.ok(!lines[1]?.includes(key))
    const [id = ''] = lines[1]?.split('  ') ?? []
    assert.equal((await runInProcess(folder, ['key', 'revoke', id], env)).code, 0)
    assert.equal((await call1_0(`${hub.url}/a2a/gpt`, 'hi', proof)).status, 401)
    assert.match((await runInProcess(folder, ['key', 'list'], env)).lines[1] ?? '', /revoked/)

    const unknown = await runInProcess(folder, ['key', 'create', '--agent', 'nope'], env)
    assert.deepEqual([unknown.code, unknown.lines], [1, ['agents: unknown agent nope: use one of gpt, other']])
    const missing = await runInProcess(folder, ['key', 'revoke', 'zzz'], env)
    assert.deepEqual([missing.code, missing.lines], [1, ['Unknown key zzz']])

    const wrong = await runInProcess(folder, ['key', 'list'], { ...env, PARLEY_ADMIN_KEY: 'not the admin key at all' })
    assert.deepEqual(
      [wrong.code, wrong.lines],
      [4, ['The admin key is wrong. Check the admin key in PARLEY_ADMIN_KEY.']],
    )
    const without = await runInProcess(folder, ['key', 'list'], { PARLEY_URL: hub.url })
    assert.match(without.lines.join(), /set PARLEY_ADMIN_KEY/)
    await hub.stop()

    const again = await startHub(folder)
    assert.ok(!again.lines.some((line) => line.includes('The admin key is')))
    await again.stop()
    const gone = await runInProcess(folder, ['key', 'list'], env)
    assert.match(gone.lines.join(), /No hub responds at/)
  })

  it('prints the admin key on a terminal, and writes it to no file', { skip: terminalSkipReason }, async () => {
    const folder = await newFolder({ 'parley.yaml': 'agents: { gpt: { kind: demo, agent: echo } }\n' })
    const hub = await startHub(folder, [], {}, true)
    assert.match(await hub.waitForLine(/The admin key is/), /The admin key is pka_\w+/)
    assert.match(await hub.waitForLine(/See it in a browser/), /#key=pka_\w+/)
    assert.ok(!(await readdir(join(folder, '.parley'))).includes('parley.admin-key'))
    await hub.stop()
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
    assert.ok(!hub.lines.some((line) => line.includes('admin key')))
    const { code, lines } = await runInProcess(folder, ['key', 'create', '--scope', 'agent:*'], env)
    assert.equal(code, 0, lines.join('\n'))
    await hub.stop()
  })
})
