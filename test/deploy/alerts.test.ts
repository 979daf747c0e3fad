/** deploy/alerts.yaml: its metrics exist, its runbooks exist, and each alert has a test of promtool. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { checkExpression } from './known-metrics.ts'

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

describe('the alerts', () => {
  it('use only metrics and labels of the hub', () => {
    for (const { expr } of rules) assert.ok(checkExpression(expr).length > 0, expr)
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
})
