/** `parley --help` and `parley a2a` must not load the hub: it took ten times as long as an empty program. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'

const reportLoads = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
process.on('exit', () => process.stderr.write(JSON.stringify(urls)))`)}`

const source = join(import.meta.dirname, '..')

function loadedBy(...words: string[]): readonly string[] {
  const args = ['--conditions=parley-source', '--import', reportLoads, join(import.meta.dirname, 'main.ts'), ...words]
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } })
  assert.equal(status, 0, stderr)
  const urls = JSON.parse(stderr) as readonly string[]
  const folder = pathToFileURL(`${source}/`).href
  return urls.filter((url) => !url.startsWith('node:')).map((url) => url.replace(folder, ''))
}

describe('parley --help', () => {
  for (const words of [['--help'], ['key', 'create', '--help'], ['completion', 'bash']])
    it(`loads only the list of commands for \`${words.join(' ')}\``, () => {
      const others = loadedBy(...words)
        .map((file) => file.replace(/.*\/packages\//, ''))
        .filter((file) => !/^cli\/[a-z-]+\.ts$/.test(file))
      assert.deepEqual(others.toSorted(), [
        'a2a/src/model/command-line.ts',
        'cli/src/args/parse-args.ts',
        'cli/src/completion.ts',
        'cli/src/internal.ts',
        'cli/src/output/printer.ts',
        'cli/src/private-cache-folder.ts',
        'config/hub-version.ts',
      ])
    })
})

describe('parley a2a', () => {
  it('loads no command of the hub', () => {
    const ofHub = loadedBy('a2a', '--version').filter((file) => !file.includes('/packages/'))
    assert.deepEqual(ofHub.filter((file) => file.endsWith('.ts')).toSorted(), ['cli/command-text.ts', 'cli/main.ts'])
  })
})
