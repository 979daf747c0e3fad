/**
 * Helm for the tests of the chart: the one in the path, else one that Go builds once into a cache of the user. A build took eleven
 * minutes beside other suites on two cores, so only the long mode and `npm run chart` build it. Quick mode uses what is there, and the
 * committed rendering names the hash of the chart that it was made from.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The last version that Go 1.24 builds. */
const version = 'v4.0.5'
const neededGo = [1, 24] as const

export type HelmResult = { readonly helm: string } | { readonly missing: string }

export interface FindHelmOptions {
  /** Builds it if it is missing. Default: in long mode. */
  readonly build?: boolean
}

export function findHelm({ build = process.env['PARLEY_FULL'] === '1' }: FindHelmOptions = {}): HelmResult {
  if (runs('helm', 'version')) return { helm: 'helm' }
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'parley-tests', `helm-${version}`)
  const helm = join(folder, 'helm')
  if (existsSync(helm)) return { helm }
  const go = goVersion()
  if (go === undefined || go[0] < neededGo[0] || (go[0] === neededGo[0] && go[1] < neededGo[1]))
    return { missing: `there is no helm, and no Go ${neededGo.join('.')} or newer to build it` }
  if (!build) return { missing: 'there is no helm; PARLEY_FULL=1 builds it once with Go, which takes minutes' }
  console.log(`building helm ${version} with Go for the tests`)
  mkdirSync(folder, { recursive: true })
  // `go install` replaces the file at the end, so that an interrupted build leaves none.
  execFileSync('go', ['install', `helm.sh/helm/v4/cmd/helm@${version}`], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '', CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 1_800_000,
  })
  return { helm }
}

function runs(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

function goVersion(): readonly [number, number] | undefined {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' })
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(stdout ?? '') ?? []
  return major === undefined ? undefined : [Number(major), Number(minor)]
}
