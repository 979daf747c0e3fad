/**
 * What every way to install the hub must do, in a folder without node_modules: commands, the console, agents of every kind that loads code on
 * demand, gRPC, OTLP, PostgreSQL, and a kill. The bundle and the executable run the same checks.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { connect } from '@parley/a2a/client'
import { readManifest } from '../../scripts/build-packages.ts'
import { fencedBlocks } from '../journeys/pages/page-steps.ts'
import { newFolder, runParley, startHub, type HubCommand, type RunningHub } from '../hub/running-hub.ts'

const root = join(import.meta.dirname, '../..')
const { version } = readManifest(join(root, 'packages/hub'))

/** In TypeScript, with values and not only types of the SDK. */
const moduleAgent = `
import { writeFileSync } from 'node:fs'
import { A2AError, type Turn } from '@parley/a2a'
import { connect } from '@parley/a2a/client'

export default {
  resume: 'rerun',
  async *run({ text, resumed, signal }: Turn) {
    if (text === 'refuse') throw new A2AError('INVALID_PARAMS', 'no such name')
    if (text === 'wait' && !resumed) {
      yield 'Waiting. '
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    yield resumed ? 'Resumed.' : \`Hello, \${text}! \${typeof connect}\`
  },
}
`

/** An agent of every kind that opens without its peer: its code must load, and the peer be reported as unreachable. */
const config = (collector: string): string => `
access: { anonymous: [greeter, shout] }
telemetry: { otlp: { url: ${collector}, interval: 1s } }
agents:
  greeter: { kind: module, path: ./greeter.ts }
  shout: { kind: command, command: [tr, a-z, A-Z], protocol: text }
  remote: { kind: a2a, url: http://127.0.0.1:9 }
  model: { kind: openai, baseUrl: http://127.0.0.1:9/v1, model: none }
  tools: { kind: mcp, url: http://127.0.0.1:9/mcp }
  coder: { kind: acp, command: [no-such-program] }
  gateway: { kind: openclaw, url: ws://127.0.0.1:9, token: none }
`

export function checkInstalledHub(name: string, install: () => Promise<HubCommand>): void {
  describe(name, { timeout: 300_000 }, () => {
    let command: HubCommand
    before(async () => {
      command = await install()
    })
    const run = async (folder: string, ...args: readonly string[]): Promise<string> => {
      const { code, lines } = await runParley(folder, args, { HOME: folder }, command)
      assert.equal(code, 0, lines.join('\n'))
      return lines.join('\n')
    }
    const start = (folder: string, grpcPort = ''): Promise<RunningHub> =>
      startHub(folder, [], { HOME: folder, GRPC_PORT: grpcPort }, false, command)

    it('prints its version and the help of both programs', async () => {
      const folder = await newFolder()
      assert.equal(await run(folder, '--version'), version)
      assert.equal(await run(folder, 'a2a', '--version'), version)
      assert.match(await run(folder, 'help'), /parley up/)
      assert.match(await run(folder, 'a2a', 'help', 'send'), /--transport/)
    })

    it('writes the project of the template', async () => {
      const folder = await newFolder()
      await run(folder, 'init', 'my-agent')
      const project = join(folder, 'my-agent')
      const template = join(root, 'packages/create-parley/template')
      assert.equal((await readdir(project)).length > 5, true)
      assert.equal(
        await readFile(join(project, 'agent.ts'), 'utf8'),
        await readFile(join(template, 'agent.ts'), 'utf8'),
      )
      assert.ok((await readFile(join(project, 'package.json'), 'utf8')).includes(`"@parley/hub": "${version}"`))
    })

    it('serves agents, the console, gRPC and MCP, and exports traces', async (t) => {
      const collector = await startCollector(t)
      const folder = await newFolder({ 'parley.yaml': config(collector.url), 'greeter.ts': moduleAgent })
      const hub = await start(folder, '0')
      const greeter = await connect(`${hub.url}/a2a/greeter`)
      assert.equal(await greeter.ask('Ada'), 'Hello, Ada! function')
      await assert.rejects(greeter.ask('refuse'), { code: 'INVALID_PARAMS', message: /no such name/ })
      assert.equal(await (await connect(`${hub.url}/a2a/shout`)).ask('ada'), 'ADA')

      const page = await (await fetch(hub.url, { headers: { accept: 'text/html' } })).text()
      const [, asset = ''] = /(?:src|href)="(\/console\/assets\/[^"]+)"/.exec(page) ?? []
      assert.equal((await fetch(hub.url + asset)).status, 200, `${asset} of the console`)

      const sent = await run(folder, 'a2a', 'send', '-a', `${hub.url}/a2a/greeter`, '--transport', 'GRPC', 'Grace')
      assert.match(sent, /Hello, Grace!/)
      const tools = await fetch(`${hub.url}/mcp`, listTools)
      assert.match(await tools.text(), /"name":"list_agents"/)

      const headers = { authorization: `Bearer ${await hub.adminKey()}` }
      const { agents } = (await (await fetch(`${hub.url}/admin/agents`, { headers })).json()) as { agents: object[] }
      assert.equal(agents.length, 7)
      assert.doesNotMatch(JSON.stringify(agents), /Cannot find (module|package)|ERR_MODULE|is not supported/)
      await collector.received('/v1/traces')
      await hub.stop()
    })

    it('continues a task after a kill, on the data of the killed process', async () => {
      const folder = await newFolder({
        'parley.yaml': 'access: { anonymous: [greeter] }\nagents: { greeter: { kind: module, path: ./greeter.ts } }\n',
        'greeter.ts': moduleAgent,
      })
      const killed = await start(folder)
      const stream = (await connect(`${killed.url}/a2a/greeter`)).stream('wait')
      for await (const event of stream) if ('artifactUpdate' in event) break
      const { taskId = '' } = stream
      killed.signal('SIGKILL')
      await killed.stop()
      const hub = await start(folder)
      const events = await (await connect(`${hub.url}/a2a/greeter`)).subscribe(taskId).all()
      assert.match(JSON.stringify(events), /Resumed\./)
      await hub.stop()
    })

    it('has the driver of PostgreSQL', async () => {
      const masterKey = Buffer.alloc(32).toString('base64')
      const store = `store: { url: "postgres://parley@127.0.0.1:9/parley", masterKey: ${masterKey} }\nagents: { shout: { kind: demo, agent: echo } }\n`
      const folder = await newFolder({ 'parley.yaml': store })
      const { code, lines } = await runParley(folder, ['doctor'], { HOME: folder }, command)
      assert.notEqual(code, 0)
      assert.match(lines.join('\n'), /ECONNREFUSED/)
    })
  })
}

const listTools: RequestInit = {
  method: 'POST',
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
}

/** A collector of OpenTelemetry that accepts everything. */
async function startCollector(t: TestContext): Promise<{ url: string; received(path: string): Promise<void> }> {
  const paths = new Set<string>()
  const server = createServer((request, response) => {
    paths.add(request.url ?? '')
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    server.emit('export')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async received(path) {
      while (!paths.has(path)) await once(server, 'export')
    },
  }
}

/** Runs the commands under a heading of docs/guides/install.md in `folder`, and checks that they print the version. */
export function checkInstallPage(heading: string, folder: string): void {
  it(`runs by the commands of docs/guides/install.md under "${heading}"`, async () => {
    const page = await readFile(join(root, 'docs/guides/install.md'), 'utf8')
    const [, section = ''] = page.split(`\n## ${heading}\n`)
    const [block] = fencedBlocks(section)
    const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: folder }
    const { stdout } = await promisify(execFile)('sh', ['-ec', block?.content ?? 'exit 1'], { cwd: folder, env })
    assert.equal(stdout.trim(), version)
  })
}

/** A folder for what a test file builds. Remove it after the tests. */
export async function buildFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'parley-deploy-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
