/** deploy/alerts.yaml: its metrics exist, its runbooks exist, and promtool accepts and fires its rules. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { findOrInstall } from '../../scripts/debian.ts'
import { newFolder } from '../telemetry/open-hub.ts'
import { knownMetrics, metricsOfWorkingHub } from './known-metrics.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string }
}

const root = new URL('../../', import.meta.url)
const file = new URL('deploy/alerts.yaml', root)
const tests = new URL('alerts.promtool.yaml', import.meta.url)
const { groups } = parse(await readFile(file, 'utf8')) as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const run = promisify(execFile)
const folder = await findOrInstall('promtool')
const skip = folder === undefined ? 'promtool is not installed (Debian: prometheus)' : false
const promtool = join(folder ?? '', 'promtool')

describe('the alerts', () => {
  it('use only metrics and labels that a working hub has', async (t) => {
    const { check } = await knownMetrics(t)
    for (const { expr } of rules) assert.ok(check(expr).length > 0, expr)
  })

  it('have a severity, a summary, a description, and a runbook that exists', async () => {
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Parley[A-Z]\w+$/)
      assert.match(labels.severity, /^(critical|warning|info)$/, alert)
      assert.ok(annotations.summary.length > 10 && annotations.description.length > 10, alert)
      const [page = '', fragment = ''] = annotations.runbook.split('#')
      const headings = [...(await readFile(new URL(page, root), 'utf8')).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
        text
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      )
      assert.ok(headings.includes(fragment), `${alert}: ${annotations.runbook}`)
    }
  })

  it('are named once, and each has a test of promtool', async () => {
    const names = rules.map(({ alert }) => alert)
    assert.equal(new Set(names).size, names.length)
    const text = await readFile(tests, 'utf8')
    const tested = new Set([...text.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name))
    assert.deepEqual(
      names.filter((name) => !tested.has(name)),
      [],
    )
  })

  it('pass promtool check rules', { skip }, async () => {
    const { stdout } = await run(promtool, ['check', 'rules', '--lint-fatal', file.pathname])
    assert.match(stdout, new RegExp(`SUCCESS: ${rules.length} rules found`))
  })

  it('fire and stay silent as their tests say', { skip }, async () => {
    const { stdout, stderr } = await run(promtool, ['test', 'rules', tests.pathname])
    assert.match(stdout + stderr, /SUCCESS/)
  })

  it('are about metrics that promtool accepts', { skip }, async (t) => {
    const text = join(await newFolder(t), 'metrics.txt')
    await writeFile(text, await metricsOfWorkingHub(t))
    const { stdout, stderr } = await run('sh', ['-c', `"${promtool}" check metrics < "${text}"`])
    assert.equal(stdout + stderr, '')
  })
})
