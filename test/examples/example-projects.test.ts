/** Each example is a project that can be copied out: it declares what it imports, in the versions of this repository, and is listed. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { currentVersion, filesWithVersion } from '../../scripts/release/package-versions.ts'
import { root } from './program.ts'

interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly type?: string
  readonly version?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const examples = globSync('*/', { cwd: join(root, 'examples') }).toSorted()
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = (path: string): Manifest => JSON.parse(read(path)) as Manifest

const version = currentVersion(root)
/** The versions that the tests of the examples run with. */
const tested = {
  ...manifest('package.json').devDependencies,
  ...manifest('packages/a2a/package.json').dependencies,
  ...manifest('test/frameworks/package.json').dependencies,
}

/** The packages that the programs of an example import. */
function importsOf(example: string): readonly string[] {
  const sources = globSync(`examples/${example}/*.ts`, { cwd: root }).map(read)
  const specifiers = sources.flatMap((source) =>
    [...source.matchAll(/^(?:import|export) .*?from '([^'.][^']*)'$/gms)].map(([, specifier = '']) => specifier),
  )
  const names = specifiers.filter((specifier) => !isBuiltin(specifier))
  return [...new Set(names.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name))]
}

describe('the examples', () => {
  it('are all listed in their README', () => {
    const listed = [...read('examples/README.md').matchAll(/\[([\w-]+)\]\(\1\)/g)].map(([, name = '']) => name)
    assert.deepEqual(listed.toSorted(), examples)
  })

  for (const example of examples) {
    const {
      name,
      private: isPrivate,
      type,
      scripts = {},
      dependencies = {},
    } = manifest(`examples/${example}/package.json`)

    it(`${example} is a project with what it imports, in the tested versions`, () => {
      assert.deepEqual([name, isPrivate, type], [`parley-example-${example}`, true, 'module'])
      assert.deepEqual(
        importsOf(example).filter((imported) => dependencies[imported] === undefined),
        [],
      )
      const expected = Object.keys(dependencies).map((each) => [
        each,
        each.startsWith('@parley/') ? version : tested[each],
      ])
      assert.deepEqual(dependencies, Object.fromEntries(expected))
    })

    it(`${example} has a README that names its commands`, () => {
      const readme = read(`examples/${example}/README.md`)
      const [, install = ''] = /^## Run it\n[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(readme) ?? []
      assert.match(install, 'test' in scripts ? /^npm install\nnpm test\n$/ : /^npm install\nnpm start\b.*\n$/)
      assert.match(readme, /^In a clone of Parley, /m)
    })
  }

  it('listen on the port of PORT, as those of the templates do', () => {
    const sources = globSync(['examples/*/*.ts', 'packages/create-parley/template/**/*.ts'], { cwd: root })
    assert.ok(sources.length > 50)
    assert.deepEqual(
      sources.filter((source) => /\b(?:listen\(|port[:=] *)['"]?[1-9]/.test(read(source))),
      [],
    )
  })

  it('get the version of a release', () => {
    const changed = filesWithVersion(root, version, '99.0.0')
    for (const example of examples) {
      assert.match(changed.get(`examples/${example}/package.json`) ?? '', /"@parley\/a2a": "99\.0\.0"/, example)
    }
  })
})
