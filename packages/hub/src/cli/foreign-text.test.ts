/** Text that agents, callers and files of others wrote, as the commands of `parley` print it: no control character reaches a terminal. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { writeDump } from '@parley/a2a/stores/dump'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

/** Erases the screen, sets a title, reverses the order and hides text. */
const hostile = 'x\u001b[2J\u009b2J\u001b]0;title\u0007\r\u202e\u200b\u2066\u007fy'
const shown = 'x\\u001b[2J\\u009b2J\\u001b]0;title\\u0007\\u000d\\u202e\\u200b\\u2066\\u007fy'
// oxlint-disable-next-line no-control-regex -- these are the characters to find
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u
/** With a line that looks like one of the program. */
const lines = `${hostile}\nStatus   ok`

const agent = {
  name: 'baker',
  kind: 'a2a',
  state: 'open',
  url: `http://127.0.0.1/${hostile}`,
  health: { state: 'down', why: lines },
  usage: { calls: 0, errors: 0 },
}
const health = {
  status: 'degraded',
  version: '1',
  node: '24',
  uptimeMs: 1,
  store: { name: hostile, isReady: true, latencyMs: 1 },
  agents: { all: 1, down: ['baker'], troubles: { baker: lines }, failing: { baker: hostile } },
  tasks: {},
  streams: 0,
  push: { isOn: false },
  readers: { feed: [], unsentBytes: 0, paused: 0 },
  auditExports: [],
  configRejection: { since: 't', problem: hostile },
}
const logLine = JSON.stringify({ time: 't', level: 'warn', message: lines, caller: hostile, error: { stack: lines } })

/** The admin API of a hub whose agents, callers and operators write what they like. */
async function run(t: TestContext, words: readonly string[], { isOutputTerminal = true, cwd = tmpdir() } = {}) {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (path === '/admin/logs') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.end(`event: line\ndata: ${logLine}\n\n`)
    }
    const answers: Readonly<Record<string, object>> = {
      '/healthz': { status: 'ok' },
      '/admin/health': health,
      '/admin/agents': { agents: [agent] },
    }
    const answer = answers[path]
    response.writeHead(answer === undefined ? 409 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: { message: lines } }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const environment = { PARLEY_URL: url, PARLEY_ADMIN_KEY: 'k'.repeat(32), PATH: process.env['PATH'] }
  const terminal = createTestTerminal({ environment, cwd })
  // Not a spread, whose copy would have no getters.
  await runCli(words, Object.create(terminal, { isOutputTerminal: { value: isOutputTerminal } }) as typeof terminal)
  return { printed: terminal.printed, errors: terminal.errors, all: [...terminal.printed, ...terminal.errors] }
}

/** A line may have the styles of the program. */
// oxlint-disable-next-line no-control-regex -- as above
const withoutStyles = (text: string): string => text.replaceAll(/\u001b\[(1|2|22|31|32|33|39)m/g, '')

function backupFile(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-foreign-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const reader = { kind: hostile, schemaVersion: 1, position: 1, async *entries() {} }
  return (async () => {
    const backup = { program: hostile, createdAt: 0 }
    const pieces = await Array.fromAsync(writeDump(reader as unknown as Parameters<typeof writeDump>[0], { backup }))
    const file = join(folder, 'other.backup')
    writeFileSync(file, Buffer.concat(pieces))
    return file
  })()
}

describe('text that others wrote', () => {
  for (const words of [['logs'], ['status'], ['doctor'], ['agent', 'list'], ['key', 'list'], ['restore', '--list']])
    for (const isOutputTerminal of [true, false])
      it(`is neutralised by \`parley ${words.join(' ')}\` ${isOutputTerminal ? 'on a terminal' : 'in a pipe'}`, async (t) => {
        const args = words[0] === 'restore' ? [...words, await backupFile(t)] : words
        const { all } = await run(t, args, { isOutputTerminal })
        const text = all.map((line) => (isOutputTerminal ? withoutStyles(line) : line))
        assert.ok(text.join('\n').includes(shown), text.join('\n'))
        for (const line of text) assert.doesNotMatch(line, unsafe)
        assert.ok(!text.join('\n').includes('\nStatus   ok'), 'a line of others looks like one of the program')
      })

  it('is neutralised by `parley agent add`', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-foreign-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const program = `process.stderr.write(${JSON.stringify(hostile)}); process.exitCode = 1`
    const { all } = await run(t, ['agent', 'add', '--', process.execPath, '-e', program], { cwd: folder })
    assert.ok(all.join('\n').includes('\\u202e'), all.join('\n'))
    for (const line of all) assert.doesNotMatch(withoutStyles(line), unsafe)
  })

  it('keeps the styles of the program, and no others', async (t) => {
    const { printed } = await run(t, ['logs'])
    assert.ok(printed[0]?.startsWith(`t \u001b[33mWARN \u001b[39m ${shown}`), printed[0])
  })

  for (const words of [['logs'], ['status'], ['agent', 'list'], ['restore', '--list']])
    it(`is JSON of the same value for \`parley ${words.join(' ')} -o json\`, escaped on a terminal only`, async (t) => {
      const args = words[0] === 'restore' ? [...words, await backupFile(t), '-o', 'json'] : [...words, '-o', 'json']
      const [onTerminal, inPipe] = [
        (await run(t, args)).printed.join('\n'),
        (await run(t, args, { isOutputTerminal: false })).printed.join('\n'),
      ]
      assert.doesNotMatch(onTerminal, unsafe)
      assert.ok(inPipe.includes('\u009b2J') && inPipe.includes('\u202e'), inPipe)
      const value = (text: string): unknown =>
        JSON.parse(text, (key, one: unknown) => (key === 'url' || key === 'file' ? undefined : one))
      assert.deepEqual(value(onTerminal), value(inPipe))
    })
})
