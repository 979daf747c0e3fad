import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve, type Server } from '@parley/a2a/node'
import type { ConformanceReport } from '../conformance/index.ts'
import { createMemoryTerminal, type MemoryTerminal } from '../testing/memory-terminal.ts'
import { runA2a } from '../run.ts'

let server: Server
before(async () => {
  server = await serve({ name: 'Ada', description: 'Echoes', port: 0, store: memoryStore(), agent: ({ text }) => text })
})
after(() => server.close())

async function conformance(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly terminal: MemoryTerminal }> {
  const terminal = createMemoryTerminal()
  return { code: await runA2a(['conformance', ...args], terminal), terminal }
}

/** Some checks that our server passes, and the one must that it breaks by default. */
const passing = ['--only', 'get.unknown-task', '--only', 'card.*', '--a2a-version', '1.0']
const failing = ['--only', 'version.missing-is-not-1.0', '--a2a-version', '1.0', '--binding', 'jsonrpc']

describe('a2a conformance', () => {
  it('prints a table, and exits with 0 if no must is broken', async () => {
    const { code, terminal } = await conformance(server.url, ...passing)
    assert.equal(code, 0, terminal.stderr)
    assert.match(terminal.stdout, /^Agent: Ada /)
    assert.match(terminal.stdout, /^get\.unknown-task +must +ok +ok$/m)
    assert.match(terminal.stdout, /^must +\d+ passed, 0 failed/m)
    assert.match(terminal.stdout, /^Result: no must and no should is broken$/m)
  })

  it('exits with 1 by --fail-on, and shows the exchange with -v', async () => {
    const { code, terminal } = await conformance(server.url, ...failing, '-v')
    assert.equal(code, 1)
    assert.match(terminal.stdout, /Found: ListTasks without A2A-Version returns a page of 1\.0/)
    assert.match(terminal.stdout, /"method":"ListTasks"/)
    assert.equal((await conformance(server.url, ...failing, '--fail-on', 'never')).code, 0)
  })

  it('names the remedy for a failure that has one, which is right for our own server', async (t) => {
    const { terminal } = await conformance(server.url, ...failing)
    assert.match(terminal.stdout, /^ {4}Advice: .*VersionNotSupportedError.*`strict: true`.*profile/m)
    const strict = await serve({
      name: 'Ada',
      port: 0,
      store: memoryStore(),
      quiet: true,
      strict: true,
      agent: () => 'x',
    })
    t.after(() => strict.close())
    assert.equal((await conformance(strict.url, ...failing)).code, 0)
  })

  it('prints one JSON document, or one line for each result', async () => {
    const whole = await conformance(server.url, ...passing, '-o', 'json')
    const report = JSON.parse(whole.terminal.stdout) as { schema: string; results: readonly unknown[] }
    assert.equal(report.schema, 'a2a-conformance/1')
    const lines = (await conformance(server.url, ...passing, '-o', 'json', '--stream')).terminal.stdout
      .trimEnd()
      .split('\n')
    assert.equal(lines.length, report.results.length + 1)
    assert.deepEqual(Object.keys(JSON.parse(lines.at(-1) ?? '') as object).includes('summary'), true)
  })

  it('writes JUnit XML and Markdown', async () => {
    const { terminal } = await conformance(server.url, ...failing, '--junit', 'r.xml', '--markdown', 'r.md')
    assert.match(readFileSync(join(terminal.cwd, 'r.xml'), 'utf8'), /<failure type="must"/)
    assert.match(readFileSync(join(terminal.cwd, 'r.md'), 'utf8'), /^# A2A conformance of Ada/)
  })

  it('accepts what the profile accepts', async () => {
    const terminal = createMemoryTerminal()
    writeFileSync(
      join(terminal.cwd, 'p.json'),
      JSON.stringify({ accepted: { 'version.missing-is-not-1.0': 'by choice' } }),
    )
    assert.equal(await runA2a(['conformance', server.url, ...failing, '--profile', 'p.json'], terminal), 0)
    assert.match(terminal.stdout, /Accepted: by choice/)
  })

  it('does not accuse an agent that another profile was made for', async () => {
    const { code, terminal } = await conformance(
      ...[server.url, '--profile', 'parley-demo', '--only', 'send.return-immediately', '--binding', 'jsonrpc'],
    )
    assert.equal(code, 0)
    assert.match(terminal.stdout, /the message for "slow" in the profile is not slow/)
  })

  it('names the built-in profiles if there is no such profile', async () => {
    const { code, terminal } = await conformance(server.url, '--profile', 'demo')
    assert.equal(code, 2)
    assert.match(terminal.stderr, /Built-in profiles: tck, parley-demo/)
  })

  it('checks an endpoint without a card', async () => {
    const { code, terminal } = await conformance(
      ...[
        '-e',
        `${server.url}/a2a`,
        '--transport',
        'jsonrpc',
        '--only',
        'get.unknown-task',
        '--only',
        'jsonrpc',
        '-o',
        'json',
      ],
    )
    const { targets, summary } = JSON.parse(terminal.stdout) as ConformanceReport
    assert.deepEqual(targets, [{ url: `${server.url}/a2a`, version: '1.0', binding: 'JSONRPC' }])
    assert.deepEqual([code, summary.must.pass > 5, summary.must.fail], [0, true, 0])
  })

  it('lists its checks without an agent', async () => {
    const { code, terminal } = await conformance('--list', '-o', 'json')
    const { checks } = JSON.parse(terminal.stdout) as { checks: readonly { id: string; section: unknown }[] }
    assert.equal(code, 0)
    assert.ok(
      checks.length > 90 && checks.every(({ id, section }) => /^[a-z]+\.[a-z0-9.-]+$/.test(id) && section !== ''),
    )
  })

  it('refuses wrong usage with 2, and an agent that does not answer with 3', async () => {
    for (const args of [
      [],
      ['ftp://a.test'],
      [server.url, '--profile', 'none.json'],
      [server.url, '--a2a-version', '0.9'],
      [server.url, '--svc-param', 'x'],
      [server.url, '--only', 'crad.*'],
      [server.url, '--skip', 'card.none'],
    ]) {
      const { code, terminal } = await conformance(...args)
      assert.equal(code, 2, `${args.join(' ')}: ${terminal.stderr}`)
    }
    assert.equal((await conformance('127.0.0.1:1')).code, 3)
  })
})
