import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runCli } from '../run.ts'
import { createTestTerminal } from '../testing/test-terminal.ts'
import { checkClock } from './check-clock.ts'
import { checkNode } from './diagnose.ts'
import type { DoctorFinding } from './finding.ts'
import { diskFinding } from './store-checks.ts'

async function doctor(t: TestContext, config: string, ...words: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'parley-doctor-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'parley.yaml'), config)
  const terminal = createTestTerminal({ cwd, environment: { PATH: process.env['PATH'] } })
  const code = await runCli(['doctor', '-o', 'json', ...words], terminal)
  assert.deepEqual(terminal.errors, [])
  const { findings } = JSON.parse(terminal.printed.join('\n')) as { findings: readonly DoctorFinding[] }
  return { code, find: (check: string) => findings.find((one) => one.check === check), findings }
}

async function listen(t: TestContext, body: string): Promise<number> {
  const server = createServer((_, response) => void response.end(body)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const demo = 'agents: { echo: { kind: demo, agent: echo } }'

describe('parley doctor', () => {
  it('passes a configuration that can start', async (t) => {
    const { code, findings } = await doctor(t, `listen: { port: 0, grpcPort: false }\n${demo}\n`)
    assert.equal(code, 0)
    assert.match(findings[1]?.message ?? '', /\(1 agent\)$/)
    assert.deepEqual(
      findings.map(({ check, status }) => [check, status]),
      ['node', 'configuration', 'hub', 'port', 'store', 'disk', 'agent echo', 'clock'].map((check) => [check, 'ok']),
    )
  })

  it('reports the errors of the configuration with their lines', async (t) => {
    const { code, find } = await doctor(t, 'listen: { prot: 1 }\nagents: {}\n')
    assert.equal(code, 1)
    assert.match(find('configuration')?.message ?? '', /parley\.yaml:1 {2}listen\.prot: unknown setting/)
  })

  it('says of a variable that is not set to set it', async (t) => {
    const { findings } = await doctor(t, 'listen: { prot: 1 }\nadmin: { key: "${env:OUR_KEY}" }\n' + demo)
    const remedies = findings.flatMap(({ check, remedy }) => (check === 'configuration' ? [remedy] : []))
    assert.equal(remedies.length, 2)
    assert.match(remedies[0] ?? '', /^Edit the file, then run `parley config check/)
    assert.match(remedies[1] ?? '', /^Set the variable here and where the hub starts, then run `parley config check/)
  })

  it('checks what else it can with a configuration that is invalid', async (t) => {
    const invalid = await doctor(t, `listen: { port: 0, grpcPort: false }\nstore: "memory:"\nagents: {}\n`)
    assert.deepEqual([invalid.find('port')?.status, invalid.find('store')?.status], ['ok', 'warning'])
    // Neither its port nor its agents are known.
    const broken = await doctor(t, 'listen: [\n')
    assert.equal(broken.code, 1)
    assert.deepEqual(
      broken.findings.map(({ check, status }) => [check, status]),
      [['node', 'ok'], ['configuration', 'failed'], ...['hub', 'store', 'disk', 'clock'].map((check) => [check, 'ok'])],
    )
    assert.match(broken.find('hub')?.message ?? '', /^none runs in \S+\.parley$/)
  })

  it('finds a port in use, and names the remedy', async (t) => {
    const port = await listen(t, 'something else')
    const { code, find } = await doctor(t, demo, '--port', '0', '--grpc-port', String(port))
    assert.equal(code, 1)
    assert.match(find('gRPC port')?.message ?? '', /EADDRINUSE/)
    assert.match(find('gRPC port')?.remedy ?? '', /--grpc-port/)
    const other = await doctor(t, demo, '--port', String(port), '--grpc-port', '')
    assert.match(other.find('hub')?.message ?? '', /is used by another program/)
  })

  it('finds programs, files and addresses of agents that are missing', async (t) => {
    const port = await listen(t, 'an agent')
    const { code, find } = await doctor(
      t,
      `listen: { port: 0, grpcPort: false }
agents:
  words: { kind: command, command: [cat] }
  missing: { kind: command, command: [no-such-program] }
  file: { kind: module, path: ./agent.ts }
  model: { kind: openai, baseUrl: "http://127.0.0.1:${port}/v1", model: m }
  down: { kind: openai, baseUrl: "http://127.0.0.1:2/v1", model: m }
`,
    )
    assert.equal(code, 1)
    assert.deepEqual(
      ['words', 'missing', 'file', 'model', 'down'].map((name) => find(`agent ${name}`)?.status),
      ['ok', 'failed', 'failed', 'ok', 'failed'],
    )
    assert.match(find('agent missing')?.message ?? '', /no-such-program does not exist/)
    assert.match(find('agent down')?.message ?? '', /ECONNREFUSED/)
    assert.match(find('clock')?.message ?? '', new RegExp(`agrees with 127\\.0\\.0\\.1:${port}`))
  })

  it('looks for a program as its agent does, and shows no secret of an address', async (t) => {
    const { findings, find } = await doctor(
      t,
      `listen: { port: 0, grpcPort: false }
agents:
  inside: { kind: command, command: [./run], cwd: ${JSON.stringify(import.meta.dirname)}, env: { PATH: /nowhere } }
  model: { kind: openai, baseUrl: "http://user:hunter2@127.0.0.1:2/v1?key=hidden", model: m }
`,
    )
    assert.equal(find('agent inside')?.status, 'failed')
    const local = await doctor(t, `agents: { sh: { kind: command, command: [./sh], cwd: /bin } }`, '--port', '0')
    assert.equal(local.find('agent sh')?.status, 'ok')
    assert.match(find('agent model')?.message ?? '', /ECONNREFUSED/)
    assert.doesNotMatch(JSON.stringify(findings), /hunter2|hidden/)
  })

  it('reports a store that cannot be reached, and one that keeps nothing', async (t) => {
    const database = 'postgres://u:p@127.0.0.1:2/db'
    const lost = await doctor(t, demo, '--port', '0', '--store', database)
    assert.deepEqual([lost.code, lost.find('store')?.status], [1, 'failed'])
    assert.ok(!lost.find('store')?.message.includes('u:p'), 'without the password')
    assert.equal(lost.find('master key')?.message, 'is required with PostgreSQL')
    const wrong = await doctor(t, demo, '--port', '0', '--store', 'postgres://u:p#q@127.0.0.1/db')
    assert.deepEqual([wrong.find('store')?.status, wrong.find('agent echo')?.status], ['failed', 'ok'])
    const memory = await doctor(t, demo, '--port', '0', '--store', 'memory:')
    assert.deepEqual([memory.code, memory.find('store')?.status], [0, 'warning'])
  })

  it('judges Node, the disk and the clock', () => {
    assert.equal(checkNode('24.1.0').status, 'ok')
    assert.equal(checkNode('22.18.0').status, 'failed')
    assert.deepEqual(
      [50, 500, 5_000].map((megabytes) => diskFinding(megabytes * 2 ** 20, '/data').status),
      ['failed', 'warning', 'ok'],
    )
    const late = checkClock([
      { source: 'the hub', offsetMs: 0 },
      { source: 'the database', offsetMs: 61_000 },
    ])
    assert.deepEqual([late.status, late.message], ['warning', '61 s behind the database'])
    assert.match(checkClock([{ source: 'the hub', offsetMs: -9_000 }]).message, /^9 s ahead of the hub/)
    assert.equal(checkClock([{ source: 'the hub', offsetMs: 900 }]).status, 'ok')
  })
})
