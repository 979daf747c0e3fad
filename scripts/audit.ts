/**
 * `npm run audit`: checks the dependencies of Parley and of its documentation site. The rules of the lockfile always apply; known
 * vulnerabilities are queried from the registry. No response is printed and is not a failure, because mirrors often lack that
 * service.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditLockfile } from './audit-lockfile.ts'
import type { Lockfile } from './audit-lockfile.ts'
import { readAdvisories } from './audit-advisories.ts'

const root = join(import.meta.dirname, '..')

/** Whether nothing is wrong with the packages of one lockfile. */
function audit(folder: string): boolean {
  const { packages, production, problems } = auditLockfile(
    JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lockfile,
  )
  console.log(`${packages} packages, ${production} of them in production`)
  console.log(`integrity, licences, install scripts, sources: ${problems.length} problems`)
  for (const problem of problems) console.log(`  ${problem}`)

  const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: folder, encoding: 'utf8', timeout: 60_000 })
  const advisories = readAdvisories(stdout)
  if (advisories.answered) {
    console.log(`known vulnerabilities: ${advisories.found.length}`)
    for (const found of advisories.found) console.log(`  ${found}`)
  } else {
    console.log(`known vulnerabilities: the registry did not answer (${advisories.reason})`)
  }
  return problems.length === 0 && !(advisories.answered && advisories.found.length > 0)
}

const isParleyClean = audit(root)
console.log('\nthe documentation site:')
const isSiteClean = audit(join(root, 'site'))
if (!isParleyClean || !isSiteClean) process.exitCode = 1
