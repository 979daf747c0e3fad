import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it, type TestContext } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

/** The rows of a hub whose store does or does not respond. It counts nothing without its store. */
async function status(t: TestContext, store: object): Promise<readonly string[]> {
  const health = {
    status: 'degraded',
    version: '1',
    node: '24',
    uptimeMs: 1,
    store: { name: 'PostgreSQL at db/parley', latencyMs: 1, ...store },
    agents: { all: 0, up: 0, open: 0, down: [], troubles: {}, failing: {}, recentErrors: {}, drifted: [] },
    tasks: {},
    streams: 0,
    push: { isOn: true, dead: 0, behind: 0, due: 0 },
    readers: { feed: [], unsentBytes: 0, paused: 0 },
    auditExports: [],
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(health))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const terminal = createTestTerminal({ environment: { PARLEY_URL: url, PARLEY_ADMIN_KEY: 'k'.repeat(32) } })
  await runCli(['status'], terminal)
  return terminal.printed.map((line) => line.split(' ')[0] ?? '')
}

it('shows no counts of a hub whose store does not respond', async (t) => {
  const rows = ['Hub', 'Status', 'Store', 'Streams']
  assert.deepEqual(await status(t, { isReady: false, trouble: 'connect ECONNREFUSED' }), rows)
  assert.deepEqual(
    (await status(t, { isReady: true })).filter((row) => !rows.includes(row)),
    ['Agents', 'Tasks', 'Webhooks', 'Readers'],
  )
})
