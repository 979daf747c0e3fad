import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runInMemory } from '../testing/memory-terminal.ts'

interface Shown {
  readonly settings: readonly { readonly name: string; readonly value: string | null; readonly source: string }[]
}

describe('a2a config show', () => {
  it('shows each setting, its value and its source, without secrets [A2ACLI_CONFIG_001]', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    writeFileSync(join(cwd, '.env'), 'A2ACLI_API_KEY=key-in-file\nA2ACLI_TENANT=acme\nA2ACLI_CLIENT_SECRET=hidden')
    const environment = { A2ACLI_BEARER: 'token-in-env', A2ACLI_TASK_ID: 't-1' }
    const args = ['config', 'show', '--transport', 'rest', '--transport', 'grpc']
    const { code, stdout, stderr } = await runInMemory([...args, '-o', 'json'], { cwd, environment })
    assert.deepEqual([code, stderr], [0, ''])
    const { settings } = JSON.parse(stdout) as Shown
    const by = (name: string) => settings.find((setting) => setting.name === name)
    const file = `file ${join(cwd, '.env')}`
    assert.deepEqual(by('transport'), { name: 'transport', value: 'rest,grpc', source: 'flag' })
    assert.deepEqual(by('bearer'), { name: 'bearer', value: '[redacted]', source: 'env A2ACLI_BEARER' })
    assert.deepEqual(by('api-key'), { name: 'api-key', value: '[redacted]', source: file })
    assert.deepEqual(by('client-secret'), { name: 'client-secret', value: '[redacted]', source: file })
    assert.deepEqual(by('tenant'), { name: 'tenant', value: 'acme', source: file })
    assert.deepEqual(by('task-id'), { name: 'task-id', value: 't-1', source: 'env A2ACLI_TASK_ID' })
    assert.deepEqual(by('poll-interval'), { name: 'poll-interval', value: '2s', source: 'default' })
    assert.deepEqual(by('agent-card'), { name: 'agent-card', value: null, source: 'default' })
    assert.equal(by('stream'), undefined)
    const text = await runInMemory(args, { cwd, environment })
    assert.match(text.stdout, /^transport: rest,grpc \(flag\)$/m)
    assert.match(text.stdout, /^agent-card: - \(default\)$/m)
    for (const secret of ['token-in-env', 'key-in-file', 'hidden'])
      assert.ok(!`${stdout}${text.stdout}${text.stderr}`.includes(secret), secret)
  })

  it('shows no password of a URL', async () => {
    const environment = { A2ACLI_CATALOG: 'https://ada:hunter2@a.test/x' }
    for (const format of ['text', 'json']) {
      const { stdout } = await runInMemory(['config', 'show', '-o', format], { environment })
      assert.ok(!stdout.includes('hunter2') && stdout.includes('https://ada:[redacted]@a.test/x'))
    }
  })
})
