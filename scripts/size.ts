/** `npm run size`: how large the product is for those who read it: public names per entry point of the SDK, and lines per package. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { readManifest } from './build-packages.ts'

const root = join(import.meta.dirname, '..')
const sdk = join(root, 'packages/a2a')

/** Entry points without a promise: their names are not public. */
const internal = './internal'

export interface ExportedNames {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

/** The names that a module exports, as its text lists them. Types leave no trace at run time, so nothing else could tell. */
export function exportedNames(file: string): ExportedNames {
  const text = readFileSync(file, 'utf8')
  const values = new Set<string>()
  const types = new Set<string>()
  for (const [, name = ''] of text.matchAll(/^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm))
    values.add(name)
  for (const [, name = ''] of text.matchAll(/^export (?:interface|type) (\w+)/gm)) types.add(name)
  for (const [, typeOnly, list = ''] of text.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const item of list.split(',').map((one) => one.trim())) {
      if (item === '') continue
      const isType = typeOnly !== undefined || item.startsWith('type ')
      ;(isType ? types : values).add(item.replace(/^type /, '').replace(/^.* as /, ''))
    }
  }
  for (const [, from = ''] of text.matchAll(/^export (?:type )?\* from '(.*)'/gm))
    for (const name of exportedNames(join(dirname(file), from)).types) types.add(name)
  return { values: [...values].sort(), types: [...types].sort() }
}

/** The entry points of the SDK that have a promise, with the file of each. */
function publicEntryPoints(): readonly (readonly [path: string, file: string])[] {
  return Object.entries(readManifest(sdk).exports).flatMap(([path, target]) =>
    path === internal || typeof target === 'string' ? [] : [[path, join(sdk, target['parley-source'] ?? '')] as const],
  )
}

/** Lines of shipped sources below `folder`, without tests and generated files. */
function linesBelow(folder: string, leftOut: readonly string[] = []): number {
  const files = execFileSync('git', ['ls-files', folder], { cwd: root, encoding: 'utf8' }).split('\n')
  return files
    .filter((file) => /\.(ts|tsx|css)$/.test(file) && !/\.test\.tsx?$|\/generated\/|\/api\/admin\.ts$/.test(file))
    .filter((file) => !leftOut.some((path) => file.includes(path)))
    .reduce((sum, file) => sum + readFileSync(join(root, file), 'utf8').split('\n').length - 1, 0)
}

if (import.meta.main) {
  let sum = 0
  console.log('public names of @parley/a2a')
  for (const [path, file] of publicEntryPoints()) {
    const { values, types } = exportedNames(file)
    sum += values.length + types.length
    console.log(`  ${path.padEnd(24)} ${String(values.length + types.length).padStart(6)}`)
  }
  console.log(`  ${'all'.padEnd(24)} ${String(sum).padStart(6)}\n\nshipped lines, without tests and generated files`)
  const besideTheCore = ['/adapters/', '/simple/', '/dump/', '/testing/']
  for (const [name, lines] of [
    ['a2a', linesBelow('packages/a2a/src', ['/testing/'])],
    ['a2a, the core', linesBelow('packages/a2a/src', besideTheCore)],
    ['hub', linesBelow('packages/hub/src')],
    ['console', linesBelow('packages/console/src')],
    ['cli', linesBelow('packages/cli/src')],
  ] as const)
    console.log(`  ${name.padEnd(24)} ${String(lines).padStart(6)}`)
}
