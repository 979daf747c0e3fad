/** The bundle of the hub: complete without node_modules, and its licenses. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { bundleHub, type HubBundle } from '../../scripts/bundle-hub.ts'
import { buildFolder, checkInstalledHub, checkInstallPage } from './installed-hub.ts'

let bundle: HubBundle
const folder = await buildFolder()
before(async () => {
  bundle = await bundleHub(join(folder.path, 'parley'))
})
after(() => folder.remove())

describe('the bundle of the hub', () => {
  it('imports nothing but its own files and the modules of Node', () => {
    assert.ok(bundle.externals.includes('node:sqlite'))
    assert.deepEqual(
      bundle.externals.filter((name) => !isBuiltin(name)),
      ['pg-native'],
    )
  })

  it('has modules that all load', () => {
    const program = `import { readdirSync } from 'node:fs'
      const files = readdirSync('lib')
      for (const file of files) await import(process.cwd() + '/lib/' + file)
      console.log(files.length)`
    const options = { cwd: bundle.folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
    const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options)
    assert.equal(Number(loaded), readdirSync(join(bundle.folder, 'lib')).length)
  })

  it('has the licenses of the packages that it contains', () => {
    const notice = readFileSync(join(bundle.folder, 'NOTICE'), 'utf8')
    for (const name of ['zod', '@grpc/grpc-js', 'pg', 'jose', 'yaml', 'preact', 'marked']) {
      assert.match(notice, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, 'm'))
    }
    for (const name of ['esbuild', 'typescript', 'vite']) assert.doesNotMatch(notice, new RegExp(`^${name} `, 'm'))
    assert.ok(existsSync(join(bundle.folder, 'LICENSE')))
  })

  it('replaces an older bundle, and no other folder', async () => {
    const other = await buildFolder()
    writeFileSync(join(other.path, 'notes.txt'), 'mine')
    await assert.rejects(bundleHub(other.path), /has other files than a bundle/)
    assert.equal(readFileSync(join(other.path, 'notes.txt'), 'utf8'), 'mine')
    await other.remove()
  })

  it('keeps a bundle in which a hub has stored its tasks', async () => {
    const used = await buildFolder()
    cpSync(bundle.folder, used.path, { recursive: true })
    mkdirSync(join(used.path, '.parley'))
    await assert.rejects(bundleHub(used.path), /has other files than a bundle/)
    assert.ok(existsSync(join(used.path, '.parley')))
    rmSync(join(used.path, '.parley'), { recursive: true })
    await bundleHub(used.path)
    await used.remove()
  })
})

checkInstalledHub('a hub from the bundle', async () => [process.execPath, bundle.program])
checkInstallPage('The bundle', folder.path)
