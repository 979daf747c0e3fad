/** What a user installs: built, packed and imported by plain Node, without our sources and without our conditions. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** The SDK publishes contract suites under `testing`; the folders of that name in the hub hold fixtures. */
const excluded = {
  '@parley/a2a': /\.test\.|golden|fixtures|tsbuildinfo/,
  '@parley/hub': /\.test\.|golden|fixtures|tsbuildinfo|testing/,
}

describe('the packed packages', () => {
  let scratch = ''
  const packed = new Map<string, Packed>()
  let entryPoints: readonly string[] = []

  before(async () => {
    // Inside node_modules, so that dependencies are found there as they would be in a user's project.
    const cache = join(root, 'node_modules/.cache')
    await mkdir(cache, { recursive: true })
    scratch = await mkdtemp(join(cache, 'parley-package-'))
    await run(join(root, 'node_modules/.bin/tsc'), ['-b', 'packages/a2a', 'packages/hub'], { cwd: root })
    for (const name of Object.keys(excluded)) {
      const args = ['pack', '--json', '--pack-destination', scratch, '--workspace', name]
      const { stdout } = await run('npm', args, { cwd: root })
      const answer = JSON.parse(stdout) as Packed[] | Record<string, Packed>
      packed.set(name, Object.values(answer)[0] as Packed)
    }
    const home = join(scratch, 'node_modules/@parley/a2a')
    await mkdir(home, { recursive: true })
    await run('tar', [
      '-xzf',
      join(scratch, packed.get('@parley/a2a')?.filename ?? ''),
      '-C',
      home,
      '--strip-components=1',
    ])
    const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { exports: object }
    entryPoints = Object.keys(manifest.exports).map((path) => `@parley/a2a${path.slice(1)}`)
  })
  after(() => rm(scratch, { recursive: true, force: true }))

  for (const [name, pattern] of Object.entries(excluded)) {
    it(`${name} holds code, types, sources and the license, and no tests, fixtures or golden files`, () => {
      const paths = packed.get(name)?.files.map((file) => file.path) ?? []
      for (const wanted of ['package.json', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']) {
        assert.ok(paths.includes(wanted), `${wanted} is missing`)
      }
      assert.deepEqual(
        paths.filter((path) => pattern.test(path)),
        [],
      )
    })
  }

  it('@parley/a2a can be imported through every entry point by plain Node', async () => {
    const program = `for (const entryPoint of ${JSON.stringify(entryPoints)}) {
      const module = await import(entryPoint)
      console.log(entryPoint, Object.keys(module).length > 0, import.meta.resolve(entryPoint).includes('/dist/'))
    }`
    // Without the variables of the test runner.
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: scratch, env })
    assert.deepEqual(
      stdout.trim().split('\n'),
      entryPoints.map((entryPoint) => `${entryPoint} true true`),
    )
  })
})
