import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { withStaticImports } from './bundle-cli.ts'

const run = promisify(execFile)
const packageFolder = join(import.meta.dirname, '../packages/cli')

/** Prints the files of the bundle and the modules of Node that a run has loaded. */
const reportLoads = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const files = []
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) files.push(url); return next(url, context) } })
process.on('exit', () => process.stderr.write('\\n' + JSON.stringify({ files, builtins: process.moduleLoadList })))`)}`

const card = {
  name: 'Echo',
  description: 'Echoes',
  version: '1',
  supportedInterfaces: [{ url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
}

interface Loads {
  readonly files: readonly string[]
  readonly builtins: readonly string[]
}

describe('the bundle of a2a', () => {
  // Below the package, whose package.json has the version.
  const dist = mkdtempSync(join(packageFolder, 'dist-test-'))
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(card))
  })
  let url = ''
  before(async () => {
    execFileSync(process.execPath, [join(import.meta.dirname, 'bundle-cli.ts'), dist])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    rmSync(dist, { recursive: true })
  })

  async function loadedBy(...words: string[]): Promise<Loads & { readonly stdout: string }> {
    const env = { PATH: process.env['PATH'], HOME: dist, NODE_DISABLE_COMPILE_CACHE: '1' }
    const args = ['--import', reportLoads, join(dist, 'main.js'), ...words]
    const { stdout, stderr } = await run(process.execPath, args, { env })
    return { stdout, ...(JSON.parse(stderr.split('\n').at(-1) ?? '') as Loads) }
  }

  it('reads few files, and loads neither fetch nor TLS for a card over http', async () => {
    const version = await loadedBy('--version')
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.ok(version.files.length <= 6, version.files.join('\n'))
    const call = await loadedBy('card', 'get', '-a', url, '-o', 'json')
    assert.deepEqual(JSON.parse(call.stdout), card)
    assert.ok(call.files.length <= 12, call.files.join('\n'))
    for (const builtin of ['internal/deps/undici/undici', 'https', 'crypto', 'zlib'])
      assert.ok(!call.builtins.includes(`NativeModule ${builtin}`), builtin)
  })

  it('has the skill that it installs', async () => {
    const folder = mkdtempSync(join(dist, 'project-'))
    await run(process.execPath, [join(dist, 'main.js'), 'skill', 'install'], { cwd: folder })
    const skill = '.agents/skills/a2a/SKILL.md'
    const read = (root: string): string => readFileSync(join(root, skill), 'utf8')
    assert.equal(read(folder), read(join(packageFolder, '../..')))
  })

  it('has static imports in place of those on demand, except for rare parts and for types', () => {
    const source = `const { a } = await import('./a.ts')
let b: typeof import('./b.ts') | undefined
const c = await import('./grpc/c.ts')`
    assert.equal(
      withStaticImports(source),
      `const { a } = await Promise.resolve(part1)
let b: typeof import('./b.ts') | undefined
const c = await import('./grpc/c.ts')
import * as part1 from './a.ts'`,
    )
  })
})
