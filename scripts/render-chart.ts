/**
 * `npm run chart`: renders deploy/helm/parley in its two modes into test/deploy/golden, where machines without helm validate them.
 * Each file names a hash of the chart, so that a change of the chart without a new rendering is found everywhere.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findHelm } from './helm.ts'

const root = join(import.meta.dirname, '..')
export const chartFolder = join(root, 'deploy/helm/parley')
const tests = join(root, 'test/deploy')

export const chartModes = ['single', 'production'] as const
export type ChartMode = (typeof chartModes)[number]

export const renderedFile = (mode: ChartMode): string => join(tests, 'golden', `chart-${mode}.yaml`)

/** The arguments for `helm template` and `helm lint`. */
export function chartArguments(mode: ChartMode): readonly string[] {
  const files = [
    ...(mode === 'single' ? [] : [join(chartFolder, 'values-production.yaml')]),
    join(tests, `values/${mode}.yaml`),
  ]
  return [chartFolder, '--kube-version', '1.34.0', ...files.flatMap((file) => ['-f', file])]
}

/** Without the version, so that a release needs no new rendering. */
export function renderChart(helm: string, mode: ChartMode): string {
  const args = ['template', 'hub', '--namespace', 'agents', ...chartArguments(mode)]
  const rendered = execFileSync(helm, args, { encoding: 'utf8' })
  return rendered.replaceAll(
    /^( *(?:app\.kubernetes\.io\/version: "|helm\.sh\/chart: parley-|image: [^@\n]+:)).+?("?)$/gm,
    '$1VERSION$2',
  )
}

const withoutVersion = (text: string): string => text.replaceAll(/^(appVersion|version): .*$/gm, '')

/** Of everything that a rendering depends on. */
export function chartHash(): string {
  const hash = createHash('sha256')
  const files = globSync(['deploy/helm/parley/**/*', 'test/deploy/values/*.yaml'], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
  for (const file of files) hash.update(`${file.slice(root.length)}\0${withoutVersion(readFileSync(file, 'utf8'))}\0`)
  return hash.digest('hex')
}

if (import.meta.main) {
  const found = findHelm({ build: true })
  if ('missing' in found) throw new Error(found.missing)
  for (const mode of chartModes) {
    const heading = `# Rendered by npm run chart from a chart with this hash: ${chartHash()}\n`
    writeFileSync(renderedFile(mode), heading + renderChart(found.helm, mode))
    console.log(renderedFile(mode))
  }
}
