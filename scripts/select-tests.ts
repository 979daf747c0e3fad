/**
 * Which unit tests a change affects: the tests of the changed files and of the files that import them directly. A scan of the
 * import lines is enough for that; `npm test` covers the rest.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** All 426 unit test files took 60 s on two cores, so that these take about 6 s. */
export const maxSelectedTests = 40

export interface TestSelection {
  /** The closest first, at most `maxSelectedTests`. */
  readonly files: readonly string[]
  /** How many more tests the change affects. */
  readonly leftOut: number
}

const unitTests = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts']
const sources = ['packages/*/src/**/*.{ts,tsx}', 'scripts/**/*.ts']

/** Selects among the unit tests of `root`. `changed` are paths relative to `root`, with forward slashes. */
export function selectTests(root: string, changed: readonly string[], max = maxSelectedTests): TestSelection {
  const glob = (patterns: readonly string[]): readonly string[] =>
    globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] }).sort()
  const tests = new Set(glob(unitTests))
  const importers = findImporters(root, glob(sources))
  const changedSet = new Set(changed)
  const direct = changed.flatMap((file) => importers.get(file) ?? [])

  const ordered = [
    ...changed,
    ...changed.flatMap(testsBeside),
    ...direct,
    ...direct.filter((file) => !changedSet.has(file)).flatMap(testsBeside),
  ]
  const affected = [...new Set(ordered)].filter((file) => tests.has(file))
  return { files: affected.slice(0, max), leftOut: Math.max(0, affected.length - max) }
}

/** `x.ts` has its tests in `x.test.ts` and `x.full.test.ts`. */
function testsBeside(file: string): readonly string[] {
  return ['.test.ts', '.full.test.ts'].map((end) => file.replace(/(?<!\.test)\.tsx?$/, end))
}

/** Relative imports, re-exports and dynamic imports, of code and of types. */
const relativeImport = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g

/** The files that import a file, by its path. */
function findImporters(root: string, files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    const targets = [...text.matchAll(relativeImport)].map(([, path = '']) => posix.join(posix.dirname(file), path))
    for (const target of new Set(targets)) {
      const list = importers.get(target)
      if (list === undefined) importers.set(target, [file])
      else list.push(file)
    }
  }
  return importers
}
