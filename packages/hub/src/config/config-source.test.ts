import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { fileSource } from './config-source.ts'

function open(t: TestContext, text?: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'parley-source-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  if (text !== undefined) writeFileSync(join(cwd, 'parley.yaml'), text)
  const otherwise = { agents: { echo: { kind: 'demo', agent: 'echo' } } }
  return fileSource({
    ...(text === undefined ? {} : { file: 'parley.yaml' }),
    fallback: otherwise,
    environment: {},
    cwd,
    kinds: agentKinds,
  })
}

describe('the file of a configuration', () => {
  it('is made by the first change where there was none, for its owner alone', (t) => {
    const source = open(t)
    assert.equal(source.read(), 'agents:\n  echo:\n    kind: demo\n    agent: echo\n')
    assert.equal(existsSync(source.file), false)
    source.write('agents: { echo: { kind: demo, agent: echo } }\n')
    assert.equal(statSync(source.file).mode & 0o777, 0o600)
    assert.match(source.read(), /^agents: \{/)
  })

  it('stays as open as it was, and nothing else is left beside it', (t) => {
    const source = open(t, 'agents: {}\n')
    chmodSync(source.file, 0o640)
    source.write('agents: { x: { kind: demo } }\n')
    assert.equal(statSync(source.file).mode & 0o777, 0o640)
    assert.deepEqual(readdirSync(join(source.file, '..')), ['parley.yaml'])
  })

  it('is tried before it counts, with what else is said to the hub', async (t) => {
    const source = open(t, 'agents: {}\n')
    assert.ok('problems' in (await source.load('agents: { x: { kind: demmo } }')))
    const loaded = await source.load('agents: { x: { kind: demo, agent: echo } }')
    assert.ok('config' in loaded && loaded.config.file === source.file)
    assert.equal(source.read(), 'agents: {}\n')
  })
})
