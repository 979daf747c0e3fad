/**
 * `npm run test:lowest-versions`: the gRPC tests and the PostgreSQL tests with the lowest version of every peer dependency of the
 * SDK. npm installs these versions into a folder of the system for temporary files, where they stay for the next run;
 * `lowest-versions-redirect.ts` makes the tests import them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'packages/a2a/package.json'), 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** `^8.11` begins with 8.11.0. */
function lowestVersion(range: string): string {
  const [, version] = /^\^(\d+(?:\.\d+){1,2})$/.exec(range) ?? []
  if (version === undefined) throw new Error(`${range} is no range whose lowest version this program can read`)
  return version.split('.').length === 2 ? `${version}.0` : version
}

const lowest = Object.entries(peerDependencies).map(([name, range]) => `${name}@${lowestVersion(range)}`)
const folder = join(tmpdir(), 'parley-lowest', lowest.join('+').replaceAll('/', '-'))
console.log(`Versions: ${lowest.join(', ')}`)
if (!existsSync(join(folder, 'node_modules'))) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--save-exact', ...lowest]
  execFileSync('npm', options, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

const grpcTests = globSync('packages/a2a/src/**/grpc/**/*.test.ts', { cwd: root })
const redirect = `--import=${join(import.meta.dirname, 'lowest-versions-redirect.ts')}`
const runs: readonly (readonly string[])[] = [
  ['--conditions=parley-source', '--test', ...grpcTests],
  [join(root, 'scripts/test.ts'), 'postgres'],
]
const statuses = runs.map(
  (args) =>
    spawnSync(process.execPath, args, {
      cwd: root,
      env: {
        ...process.env,
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${redirect}`.trim(),
        PARLEY_LOWEST_VERSIONS: folder,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    }).status,
)
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1
