/** The workflows of CI and of releases: what can be checked without running them. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parse } from 'yaml'
import { publishedPackages, readManifest } from '../scripts/build-packages.ts'
import { billOfMaterials } from '../scripts/release/bill-of-materials.ts'
import { findActionlint } from './actionlint.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly name?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly 'timeout-minutes'?: number
  readonly steps: readonly Step[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly needs?: string | readonly string[]
  readonly if?: string
  readonly strategy?: { readonly matrix: { readonly command: readonly string[] } }
}
interface Workflow {
  readonly name: string
  readonly permissions: Readonly<Record<string, string>>
  readonly concurrency?: object
  readonly jobs: Readonly<Record<string, Job>>
}

const files = globSync('.github/workflows/*.yml', { cwd: root }).toSorted()
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`)) as Workflow

describe('the workflows', () => {
  it('are CI, release and docs', () => {
    assert.deepEqual(
      files,
      ['ci', 'docs', 'release'].map((name) => `.github/workflows/${name}.yml`),
    )
  })

  for (const file of files) {
    const { permissions, concurrency, jobs } = parse(read(file)) as Workflow
    const steps = Object.values(jobs).flatMap((job) => job.steps)

    it(`${file} may read by default, and limits its time`, () => {
      assert.deepEqual(permissions, { contents: 'read' })
      assert.ok(concurrency)
      for (const [name, job] of Object.entries(jobs)) assert.ok((job['timeout-minutes'] ?? 0) > 0, name)
      for (const { uses = '', with: inputs } of steps) {
        if (uses.startsWith('actions/checkout@')) assert.equal(inputs?.['persist-credentials'], false)
      }
    })

    it(`${file} uses actions of GitHub alone, by commit, with the version beside it`, () => {
      const lines = read(file)
        .split('\n')
        .filter((line) => /^\s*(- )?uses:/.test(line))
      for (const line of lines) assert.match(line, /uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    })

    it(`${file} runs scripts that exist, in commands that a shell can read`, () => {
      for (const { run } of steps) {
        if (run === undefined) continue
        for (const [, script = ''] of run.matchAll(/npm run (?:--?\w+ )*([\w:-]+)/g))
          assert.ok(script in scripts, script)
        assert.equal(spawnSync('sh', ['-n'], { input: run.replaceAll(/\$\{\{.*?\}\}/g, 'value') }).status, 0, run)
      }
    })
  }

  it('use the same commit of an action everywhere', () => {
    const used = files.flatMap((file) => [...read(file).matchAll(/uses: ([\w/-]+)@(\S+)/g)])
    const commits = Map.groupBy(used, ([, action]) => action)
    for (const [action, found] of commits) assert.equal(new Set(found.map(([, , commit]) => commit)).size, 1, action)
  })

  it('have no problem that actionlint reports [full]', (t) => {
    // Go may have to build it.
    const { actionlint, missing } = findActionlint()
    if (actionlint === undefined) return t.skip(missing)
    const { stdout, status } = spawnSync(actionlint ?? '', files, { cwd: root, encoding: 'utf8' })
    assert.equal(stdout, '')
    assert.equal(status, 0)
  })
})

describe('CI', () => {
  const { test, full, long } = workflow('ci').jobs
  const commandsOf = (job: Job | undefined): readonly (string | undefined)[] => job?.steps.map(({ run }) => run) ?? []

  it('runs the quick set for every change', () => {
    assert.equal(test?.if, undefined)
    assert.ok(commandsOf(test).includes('npm test'))
  })

  it('runs the full set and the long modes every night', () => {
    for (const job of [full, long]) assert.equal(job?.if, "github.event_name == 'schedule'")
    assert.ok(commandsOf(full).includes('npm run test:full'))
    const commands = long?.strategy?.matrix.command ?? []
    for (const command of commands) assert.ok((/^npm run ([\w:-]+)/.exec(command)?.[1] ?? 'test') in scripts, command)
    const suites = commands.flatMap((command) => /^npm test -- (.+)/.exec(command)?.[1]?.split(' ') ?? [])
    const hasLongMode = (file: string): boolean => read(file).includes("process.env['PARLEY_FULL']")
    const sources = globSync('{test/*,packages}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
    const longSuites = sources.filter(hasLongMode).map((file) => /^test\/(.+?)\//.exec(file)?.[1] ?? 'units')
    assert.deepEqual(suites.toSorted(), [...new Set(longSuites)].toSorted())
  })
})

describe('the release', () => {
  const { jobs } = workflow('release')
  const step = (job: string, name: string): string =>
    jobs[job]?.steps.find((one) => one.name === name)?.run ?? `no step ${name}`

  it('publishes every package in the order of their dependencies, with provenance', () => {
    const run = step('publish', 'Publish to npm')
    const [, names = ''] = /for name in (.*); do/.exec(run) ?? []
    assert.deepEqual(
      names.split(' '),
      publishedPackages.map((name) => readManifest(join(root, 'packages', name)).name),
    )
    assert.equal(jobs['publish']?.permissions?.['id-token'], 'write')
    for (const [name, { permissions }] of Object.entries(jobs))
      assert.ok(name === 'publish' || permissions === undefined, name)
  })

  it('publishes what a first attempt did not: archives with the names that npm gives them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-npm-'))
    after(() => rmSync(folder, { recursive: true }))
    // The registry has the first package and answers 404 for the others.
    const npm = `#!/bin/sh
case "$1 $2" in
"view create-parley@1.0.0") echo 1.0.0 ;;
"view "*) echo E404 >&2; exit 1 ;;
*) echo "$@" ;;
esac
`
    writeFileSync(join(folder, 'npm'), npm, { mode: 0o755 })
    const env = { PATH: `${folder}:${process.env['PATH']}`, GITHUB_REF_NAME: 'v1.0.0' }
    const output = execFileSync('bash', ['-e', '-c', step('publish', 'Publish to npm')], { env, encoding: 'utf8' })
    assert.deepEqual(
      output.trim().split('\n'),
      ['a2a', 'cli', 'hub'].map(
        (name) => `publish release/parley-${name}-1.0.0.tgz --provenance --access public --tag latest`,
      ),
    )
  })

  it('publishes a pushed tag only: not a run by hand, although it may name a tag', () => {
    assert.equal(jobs['publish']?.if, "github.event_name == 'push' && github.ref_type == 'tag'")
  })

  it('stops if the tag is not the version of the packages', () => {
    const run = step('packages', 'The tag is the version of the packages')
    const { version } = readManifest(join(root, 'packages/hub'))
    const statusOf = (tag: string): number | null =>
      spawnSync('sh', ['-c', run], { cwd: root, env: { PATH: process.env['PATH'], GITHUB_REF_NAME: tag } }).status
    assert.equal(statusOf(`v${version}`), 0)
    assert.equal(statusOf('v0.0.0'), 1)
  })

  it('marks a pre-release for npm', () => {
    const [, choice = ''] = /^(case .*)$/m.exec(step('publish', 'Publish to npm')) ?? []
    const tagOf = (name: string): string =>
      execFileSync('sh', ['-c', `${choice}; echo "$tag"`], { env: { GITHUB_REF_NAME: name }, encoding: 'utf8' }).trim()
    assert.deepEqual([tagOf('v1.0.0'), tagOf('v1.0.0-rc.1')], ['latest', 'next'])
  })

  it('has a bill of materials with every package that users install', () => {
    const { components, dependencies } = billOfMaterials(root)
    const names = components.map(({ name }) => name)
    for (const name of publishedPackages) {
      const manifest = readManifest(join(root, 'packages', name))
      for (const needed of [manifest.name, ...Object.keys(manifest.dependencies ?? {})])
        assert.ok(names.includes(needed), needed)
    }
    for (const name of ['preact', 'protobufjs', 'pg-protocol']) assert.ok(names.includes(name), name)
    for (const name of ['esbuild', 'typescript', 'playwright-core']) assert.ok(!names.includes(name), name)
    const refs = new Set(['parley', ...components.map((component) => component['bom-ref'])])
    for (const { ref, dependsOn } of dependencies) for (const one of [ref, ...dependsOn]) assert.ok(refs.has(one), one)
  })
})

describe('the settings of the repository', () => {
  it('name folders with a lockfile for updates of dependencies', () => {
    interface Update {
      readonly 'package-ecosystem': string
      readonly directories?: readonly string[]
    }
    const { updates } = parse(read('.github/dependabot.yml')) as { updates: readonly Update[] }
    const folders = updates.flatMap(({ directories = [] }) => directories)
    assert.deepEqual(
      updates.map((update) => update['package-ecosystem']),
      ['npm', 'github-actions'],
    )
    for (const folder of folders) assert.ok(existsSync(join(root, folder, 'package-lock.json')), folder)
  })

  it('have forms for issues, in which every field has an id and a label', () => {
    for (const name of ['bug_report', 'feature_request']) {
      interface Field {
        readonly type: string
        readonly id?: string
        readonly attributes: { readonly label?: string }
      }
      const form = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as {
        name: string
        description: string
        body: readonly Field[]
      }
      assert.ok(form.name !== '' && form.description !== '')
      const fields = form.body.filter(({ type }) => type !== 'markdown')
      assert.ok(fields.length > 0)
      for (const { id, attributes } of fields) assert.ok(id !== undefined && attributes.label !== undefined, name)
    }
  })

  it('have a policy for vulnerabilities, a code of conduct and a template for pull requests', () => {
    for (const file of ['SECURITY.md', 'CODE_OF_CONDUCT.md', '.github/PULL_REQUEST_TEMPLATE.md'])
      assert.ok(read(file).length > 200)
  })
})
