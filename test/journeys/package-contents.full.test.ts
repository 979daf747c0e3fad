/** What the packages contain: built code and types of their entry points, within limits, at the positions of the sources. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { bundledPackages } from '../../scripts/build-packages.ts'
import { cleanEnvironment, entryPointsOf, manifestOf, root, run, type Installation } from './install.ts'
import { installation } from './installation.ts'

interface Limits {
  /** Of the archive. */
  readonly bytes: number
  readonly files: number
  /** What must be in it, besides `package.json`, README and license. */
  readonly contains: readonly string[]
}

/** Two thirds of what the packages were with sources and source maps: 1.2 MB in 1,947 files, and 1.4 MB in 2,053 files. */
const limits: Readonly<Record<string, Limits>> = {
  '@parley/a2a': { bytes: 800_000, files: 750, contains: ['dist/index.js', 'dist/index.d.ts'] },
  '@parley/cli': {
    bytes: 500_000,
    files: 160,
    contains: [
      'dist/main.js',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/conformance/index.js',
      'dist/skills/a2a/SKILL.md',
    ],
  },
  '@parley/hub': {
    bytes: 900_000,
    files: 540,
    contains: ['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'console/index.html', 'parley.schema.json'],
  },
  'create-parley': {
    bytes: 20_000,
    files: 40,
    contains: ['dist/main.js', 'dist/index.d.ts', 'template/gitignore', 'template/package.json'],
  },
}

/** The sources, what tests need, and what only the build needs. The template has a test for the project that it becomes. */
const excluded = /^src\/|^dist\/.*(?:\.test\.|fixtures)|golden|tsbuildinfo|made-of|\.map$/

describe('what the packages contain', () => {
  let packed: Installation
  before(async () => {
    packed = await installation()
  })

  it('is stated here for each of them', () => {
    assert.deepEqual(packed.packages.map(({ name }) => name).sort(), Object.keys(limits).sort())
  })

  for (const [name, { bytes, files: count, contains }] of Object.entries(limits)) {
    it(`${name} is below ${bytes / 1_000} kB and ${count} files, without sources, tests and fixtures`, () => {
      const { size, files = [] } = packed.packages.find((one) => one.name === name) ?? {}
      assert.ok((size ?? 0) > 1_000 && (size ?? 0) <= bytes, `${size} bytes`)
      assert.ok(files.length <= count, `${files.length} files`)
      const paths = files.map(({ path }) => path)
      assert.deepEqual(
        ['package.json', 'README.md', 'LICENSE', ...contains].filter((path) => !paths.includes(path)),
        [],
      )
      const isFixture = (path: string): boolean => name !== '@parley/a2a' && path.includes('testing')
      assert.deepEqual(
        paths.filter((path) => excluded.test(path) || isFixture(path)),
        [],
      )
    })

    it(`${name} has metadata, and no address that does not exist`, () => {
      const manifest = manifestOf(packed, name)
      for (const field of ['description', 'keywords', 'license', 'engines']) assert.ok(field in manifest, field)
      for (const field of ['repository', 'homepage', 'bugs']) assert.ok(!(field in manifest), field)
      assert.doesNotMatch(JSON.stringify(manifest), /parley-source/)
    })

    it(`${name} can be imported through every entry point by plain Node`, async () => {
      const entryPoints = entryPointsOf(packed, name)
      const program = `for (const entryPoint of ${JSON.stringify(entryPoints)}) {
        const module = await import(entryPoint)
        console.log(entryPoint, Object.keys(module).length > 0, import.meta.resolve(entryPoint).includes('/dist/'))
      }`
      const { stdout } = await runProgram(packed, program)
      assert.deepEqual(
        stdout.trim().split('\n'),
        // The entry point of the hub has types only.
        entryPoints.map((entryPoint) => `${entryPoint} ${name !== '@parley/hub'} true`),
      )
    })

    // A bundle has no such positions.
    if (bundledPackages.includes(name.replace('@parley/', ''))) continue
    it(`${name} has its code at the lines and columns of the sources`, () => {
      const sources = join(root, 'packages', name.replace('@parley/', ''), 'src')
      const dist = join(packed.scratch, 'node_modules', name, 'dist')
      const files = globSync('**/*.js', { cwd: dist })
      assert.ok(files.length > 0)
      for (const file of files) {
        const source = readFileSync(join(sources, file.replace(/\.js$/, '.ts')), 'utf8')
        assert.equal(movedAt(readFileSync(join(dist, file), 'utf8'), source), undefined, file)
      }
    })
  }

  it('would be noticed at another position', () => {
    assert.equal(movedAt('const a      = 1\n', 'const a: X[] = 1\n'), undefined)
    assert.equal(movedAt('const a = 1\n', 'const a: X[] = 1\n'), '1:9')
    assert.equal(movedAt('const a = 1\n', '\nconst a = 1\n'), '1:1')
  })

  it('lets a stack trace point to the line of the source, without source maps', async () => {
    const program = `import { connect } from '@parley/a2a/client'
      await connect('not an address').catch(({ stack }) => console.log(stack))`
    const { stdout } = await runProgram(packed, program)
    const [, file = '', line = '', column = ''] = /@parley\/a2a\/dist\/(\S+)\.js:(\d+):(\d+)/.exec(stdout) ?? []
    const source = readFileSync(join(root, 'packages/a2a/src', `${file}.ts`), 'utf8').split('\n')
    assert.match(source[Number(line) - 1]?.slice(Number(column) - 1) ?? '', /^new A2AError\(|^new URL\(/, stdout)
  })
})

function runProgram({ scratch }: Installation, program: string) {
  const args = ['--input-type=module', '--eval', program]
  return run(process.execPath, args, { cwd: scratch, env: cleanEnvironment })
}

/** Where `built` has something else than its source has at the same place, except for spaces and the extension of an import. */
function movedAt(built: string, source: string): string | undefined {
  const lines = source.split('\n')
  for (const [row, line] of built.split('\n').entries()) {
    const original = lines[row] ?? ''
    for (let column = 0; column < line.length; column += 1) {
      const same = /\s/.test(line[column] ?? '') || line[column] === original[column]
      const isExtension =
        line.slice(column - 1, column + 2) === '.js' && original.slice(column - 1, column + 2) === '.ts'
      if (!same && !isExtension) return `${row + 1}:${column + 1}`
    }
  }
  return undefined
}
