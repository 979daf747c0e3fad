/** The checker of workflows: the one in the path, else one that Go builds into a cache of the user, in CI and in long mode. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = 'v1.7.7'

export interface FoundActionlint {
  readonly actionlint?: string
  /** Why there is none. */
  readonly missing: string
}

export function findActionlint(): FoundActionlint {
  const missing = 'there is no actionlint; PARLEY_FULL=1 builds it once with Go'
  const runs = (file: string): boolean => spawnSync(file, ['-version']).status === 0
  if (runs('actionlint')) return { actionlint: 'actionlint', missing }
  const folder = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'parley-tests',
    `actionlint-${version}`,
  )
  const actionlint = join(folder, 'actionlint')
  if (existsSync(actionlint)) return { actionlint, missing }
  const mayBuild = process.env['CI'] === 'true' || process.env['PARLEY_FULL'] === '1'
  if (!mayBuild) return { missing }
  if (spawnSync('go', ['version']).status !== 0) return { missing: 'there is no actionlint, and no Go to build it' }
  mkdirSync(folder, { recursive: true })
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '', CGO_ENABLED: '0' }
  try {
    execFileSync('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@${version}`], { env, stdio: 'pipe' })
  } catch (error) {
    return { missing: `Go cannot build actionlint: ${(error as Error).message.split('\n')[0]}` }
  }
  return { actionlint, missing }
}
