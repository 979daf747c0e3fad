import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-config-'))
after(() => rmSync(cwd, { recursive: true }))

async function config(text: string, ...words: string[]) {
  writeFileSync(join(cwd, 'parley.yaml'), text)
  const terminal = createTestTerminal({ cwd, environment: { SECRET: 'sesame' } })
  const code = await runCli(['config', ...words], terminal)
  return { code, said: terminal.printed.join('\n'), complaints: terminal.errors }
}

const good = 'agents: { echo: { kind: demo, agent: echo, description: "${env:SECRET}" } }'

describe('parley config', () => {
  it('check says that a configuration is right, or all that is wrong and on which line', async () => {
    assert.equal((await config(good, 'check')).code, 0)
    const { code, complaints } = await config('agents:\n  echo: { kind: demo }\nlisten: { port: x }\n', 'check')
    assert.equal(code, 1)
    assert.deepEqual(complaints, [
      `${join(cwd, 'parley.yaml')}:2  agents.echo.agent: is missing: must be echo, clock, concierge or rehearsal`,
      `${join(cwd, 'parley.yaml')}:3  listen.port: must be a whole number`,
    ])
  })

  it('check names the master key that PostgreSQL needs, if it is set neither in the file nor in the environment', async () => {
    const onPostgres = (store: string) => config(`${good}\nstore: ${store}\n`, 'check')
    const lacking = await onPostgres('postgres://parley@db/parley')
    assert.equal(lacking.code, 0)
    assert.match(lacking.said, /^PARLEY_MASTER_KEY is not set here/m)
    const set = await onPostgres('{ url: "postgres://parley@db/parley", masterKey: "${env:SECRET}" }')
    assert.doesNotMatch(set.said, /PARLEY_MASTER_KEY/)
    assert.doesNotMatch((await config(good, 'check')).said, /PARLEY_MASTER_KEY/)
  })

  it('check lists what is wrong as JSON for programs', async () => {
    const text = 'agents:\n  echo: { kind: demo }\nlisten: { port: x }\n'
    const { code, said, complaints } = await config(text, 'check', '-o', 'json')
    assert.deepEqual([code, complaints], [1, []])
    assert.deepEqual(JSON.parse(said), {
      file: join(cwd, 'parley.yaml'),
      isValid: false,
      problems: [
        { line: 2, path: 'agents.echo.agent', message: 'is missing: must be echo, clock, concierge or rehearsal' },
        { line: 3, path: 'listen.port', message: 'must be a whole number' },
      ],
    })
  })

  it('print shows it without secrets', async () => {
    const { code, said } = await config(good, 'print', '--port', '8080')
    assert.equal(code, 0)
    assert.match(said, /port: 8080/)
    assert.match(said, /description: \$\{env:SECRET\}/)
    assert.doesNotMatch(said, /sesame/)
  })

  it('schema prints a JSON Schema', async () => {
    const { said } = await config(good, 'schema')
    assert.equal((JSON.parse(said) as { $schema: string }).$schema, 'https://json-schema.org/draft/2020-12/schema')
  })
})
