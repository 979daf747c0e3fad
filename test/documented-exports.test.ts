/** Every name that a public entry point exports has a doc comment at its declaration. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')

/** Where a name is declared: the file and the offset of the declaration in its text. */
interface Declaration {
  readonly file: string
  readonly offset: number
}

/** A `from` of an import or export: the module, and the name there by the name here. */
interface Reexport {
  readonly from: string
  readonly names: ReadonlyMap<string, string>
}

interface Module {
  readonly text: string
  /** Top-level declarations, exported or not; several for an overloaded function. */
  readonly declarations: ReadonlyMap<string, readonly number[]>
  /** Exported names, each with its name inside the module. */
  readonly exported: ReadonlyMap<string, string>
  readonly imports: readonly Reexport[]
  readonly reexports: readonly Reexport[]
  /** Modules of `export * from`. */
  readonly stars: readonly string[]
}

const declaration =
  /^(export )?(default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const enum|const|let|var|interface|type|enum|namespace) +([\w$]+)/gm
const list = /^(import|export) +(?:type +)?\{([^}]*)\}(?: +from +'([^']+)')?/gm
const star = /^export +(?:type +)?\* +from +'([^']+)'/gm

/**
 * Reads the imports, exports and declarations of a module from its text. TypeScript 7 has no compiler API, so this relies on
 * the formatter: a top-level statement starts in the first column, and nothing else that looks like one does.
 */
function parse(text: string): Module {
  const known = new Set([declaration, list, star].flatMap((form) => [...text.matchAll(form)].map(({ index }) => index)))
  const unknown = [...text.matchAll(/^export\b.*$/gm)].find(({ index }) => !known.has(index))
  assert.equal(unknown, undefined, `this test does not understand: ${unknown?.[0]}`)
  const declarations = new Map<string, number[]>()
  const exported = new Map<string, string>()
  const imports: Reexport[] = []
  const reexports: Reexport[] = []
  for (const match of text.matchAll(declaration)) {
    const name = match[3] as string
    declarations.set(name, [...(declarations.get(name) ?? []), match.index])
    if (match[1] !== undefined) exported.set(match[2] === undefined ? name : 'default', name)
  }
  for (const [, word, names = '', from] of text.matchAll(list)) {
    const pairs = namesIn(names)
    const byLocalName = new Map(pairs.map(([there, here]) => [here, there]))
    if (word === 'import') imports.push({ from: from as string, names: byLocalName })
    else if (from !== undefined) reexports.push({ from, names: byLocalName })
    else for (const [here, outside] of pairs) exported.set(outside, here)
  }
  return {
    text,
    declarations,
    exported,
    imports,
    reexports,
    stars: [...text.matchAll(star)].map((match) => match[1] as string),
  }
}

/** The pairs of an import or export list: the name before `as` and the name after it. */
function namesIn(names: string): readonly (readonly [string, string])[] {
  return names
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .split(',')
    .map((name) => name.trim().replace(/^type +/, ''))
    .filter((name) => name !== '')
    .map((name) => {
      const [first = '', second = first] = name.split(/ +as +/)
      return [first, second] as const
    })
}

const modules = new Map<string, Module>()

function moduleAt(file: string): Module {
  const known = modules.get(file)
  if (known !== undefined) return known
  const read = parse(readFileSync(file, 'utf8'))
  modules.set(file, read)
  return read
}

/** The file of a relative specifier, or of an entry point of this repository; `undefined` for any other package. */
function resolve(from: string, file: string): string | undefined {
  if (from.startsWith('.')) return join(dirname(file), from)
  const [, name, path = ''] = /^@parley\/([^/]+)(.*)$/.exec(from) ?? []
  return name === undefined ? undefined : entryPoints(name).get(`.${path}`)
}

/** The source files of a package's entry points, by path. Entry points that are not code are left out. */
function entryPoints(name: string): ReadonlyMap<string, string> {
  const home = join(root, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { readonly 'parley-source': string }>
  }
  return new Map(
    Object.entries(manifest.exports).flatMap(([path, target]) =>
      typeof target === 'string' ? [] : [[path, join(home, target['parley-source'])] as const],
    ),
  )
}

/** Every exported name of a module with its declarations; none where another package declares it. */
function exportsOf(file: string): ReadonlyMap<string, readonly Declaration[]> {
  const { exported, reexports, stars } = moduleAt(file)
  const found = new Map<string, readonly Declaration[]>()
  for (const from of stars) {
    const target = resolve(from, file)
    if (target === undefined) continue
    for (const [name, places] of exportsOf(target)) if (name !== 'default') found.set(name, places)
  }
  for (const { from, names } of reexports) {
    for (const [name, there] of names) found.set(name, declarationsIn(from, there, file))
  }
  for (const [name, local] of exported) found.set(name, localDeclarations(local, file))
  return found
}

function declarationsIn(from: string, name: string, file: string): readonly Declaration[] {
  const target = resolve(from, file)
  if (target === undefined) return []
  const places = exportsOf(target).get(name)
  assert.ok(places, `${relative(root, file)} takes ${name} from ${from}, which does not export it`)
  return places
}

/** A name inside a module: declared there, or imported and passed on. */
function localDeclarations(name: string, file: string): readonly Declaration[] {
  const { declarations, imports } = moduleAt(file)
  const offsets = declarations.get(name)
  if (offsets !== undefined) return offsets.map((offset) => ({ file, offset }))
  const source = imports.find(({ names }) => names.has(name))
  assert.ok(source, `${relative(root, file)} exports ${name}, which it neither declares nor imports`)
  return declarationsIn(source.from, source.names.get(name) as string, file)
}

/** Whether a doc comment with some text ends right above the declaration; line comments may stand between. */
function isDocumented({ file, offset }: Declaration): boolean {
  const above = moduleAt(file)
    .text.slice(0, offset)
    .replace(/(?:^\/\/.*\n)+$/m, '')
  if (!above.endsWith('*/\n')) return false
  const comment = above.slice([...above.matchAll(/^\/\*/gm)].at(-1)?.index).trimEnd()
  return /^\/\*\*\s/.test(comment) && comment.indexOf('*/') === comment.length - 2 && /\w/.test(comment)
}

/** The undocumented exports of an entry point, as `name (file:line)`. */
function undocumented(file: string): readonly string[] {
  return [...exportsOf(file)]
    .filter(([, places]) => places.length > 0 && !places.some(isDocumented))
    .map(([name, [place]]) => {
      const { file: declaredIn, offset } = place as Declaration
      const line = moduleAt(declaredIn).text.slice(0, offset).split('\n').length
      return `${name} (${relative(root, declaredIn)}:${line})`
    })
    .sort()
}

describe('the public entry points', () => {
  for (const name of ['a2a', 'hub']) {
    for (const [path, file] of entryPoints(name)) {
      it(`@parley/${name}${path.slice(1)} documents every export`, () => {
        assert.ok(existsSync(file), `${file} does not exist`)
        assert.ok(exportsOf(file).size > 0, `no exports found in ${relative(root, file)}`)
        assert.deepEqual(undocumented(file), [], 'exports without a doc comment at their declaration')
      })
    }
  }

  it('export every name that exists at run time, as this test reads them', async () => {
    for (const [path, file] of entryPoints('a2a')) {
      const values = Object.keys((await import(`@parley/a2a${path.slice(1)}`)) as object)
      const names = new Set(exportsOf(file).keys())
      assert.deepEqual(
        values.filter((value) => !names.has(value)),
        [],
      )
    }
  })
})

describe('the search for undocumented exports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'documented-exports-'))
  after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const namesOf = (file: string): readonly string[] => undocumented(file).map((found) => found.split(' ')[0] as string)

  it('accepts only a doc comment right above the declaration', () => {
    const file = write(
      'comments.ts',
      [
        '/** The file. */\n',
        '/** Yes: `text/*`. */\nexport const documented = 1\n',
        '/** Yes,\n * over two lines. */\n// oxlint-disable-next-line\nexport type Documented = 1\n',
        '/** Not this one. */\n\nexport class BlankLine {}\n',
        '/* No. */\nexport interface PlainComment {}\n',
        '// No.\nexport async function lineComment() {}\n',
        '/** */\nexport function* empty() {}\n',
        'export abstract class None {}\n',
        '/** Another. */\nconst other = 1 /* No. */\nexport let trailing = other\n',
      ].join('\n'),
    )
    assert.deepEqual(namesOf(file), ['BlankLine', 'None', 'PlainComment', 'empty', 'lineComment', 'trailing'])
  })

  it('accepts one comment for all overloads of a function', () => {
    const file = write(
      'overloads.ts',
      '/** Yes. */\nexport function over(a: string): void\nexport function over(a: number): void\nexport function over() {}\n',
    )
    assert.deepEqual(namesOf(file), [])
  })

  it('resolves re-exports', () => {
    write(
      'leaf.ts',
      'export const a = 1\nexport type B = 1\nconst c = 1\nexport { c as d }\n/** Yes. */\nexport const e = 1\n',
    )
    write('star.ts', "export type * from './leaf.ts'\n")
    write('imported.ts', "import { a, type B as Renamed } from './leaf.ts'\nexport { a as f, Renamed }\n")
    assert.deepEqual(namesOf(write('stars.ts', "export * from './star.ts'\n")), ['B', 'a', 'd'])
    assert.deepEqual(namesOf(write('named.ts', "export {\n  a as x,\n  type B,\n  e,\n} from './star.ts'\n")), [
      'B',
      'x',
    ])
    assert.deepEqual(namesOf(write('passed.ts', "export { f, type Renamed } from './imported.ts'\n")), ['Renamed', 'f'])
    assert.deepEqual(namesOf(write('other.ts', "export { x } from 'another-package'\n")), [])
    assert.throws(() => namesOf(write('wrong.ts', "export { nothing } from './leaf.ts'\n")), /which does not export it/)
    assert.throws(
      () => namesOf(write('odd.ts', "export * as leaf from './leaf.ts'\n")),
      /does not understand: export \* as leaf/,
    )
  })
})
