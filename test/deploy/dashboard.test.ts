/** deploy/grafana.json: every metric and label in it exists, and it shows all metrics. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { metricTable } from '../../packages/hub/src/telemetry/metrics/metric-table.ts'
import { checkExpression } from './known-metrics.ts'
import { usedMetrics } from './promql.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const dashboard = JSON.parse(await readFile(new URL('../../deploy/grafana.json', import.meta.url), 'utf8')) as {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
}
const targets = dashboard.panels.flatMap(({ targets: own = [] }) => own)

describe('the dashboard', () => {
  it('uses only metrics and labels of the hub, and shows all of them', () => {
    const used = new Set([...targets, ...dashboard.annotations.list].flatMap(({ expr }) => checkExpression(expr)))
    for (const { definition = '' } of dashboard.templating.list)
      for (const [, metric = ''] of definition.matchAll(/label_values\((\w+)/g))
        assert.deepEqual(checkExpression(metric), [metric])
    const hidden = metricTable.map(({ name }) => name).filter((name) => !used.has(name))
    assert.deepEqual(hidden, [])
  })

  it('names only labels in legends that its queries keep', () => {
    for (const { expr, legendFormat } of targets)
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(label === 'instance' || new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr), `${label}: ${expr}`)
  })

  it('has panels that do not overlap, each with an id of its own', () => {
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
    for (const one of dashboard.panels)
      for (const other of dashboard.panels) {
        if (one.id >= other.id) continue
        const [a, b] = [one.gridPos, other.gridPos]
        const isApart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
        assert.ok(isApart, `${one.title} and ${other.title}`)
        assert.ok(a.x + a.w <= 24, one.title)
      }
  })
})

describe('the reader of expressions', () => {
  it('finds metrics with their labels, and no functions, keywords or numbers', () => {
    assert.deepEqual(usedMetrics('sum by (le, agent) (rate(a_bucket{job=~"$job",b!="x{y}"}[5m])) / on (c) d > 1e9'), [
      { metric: 'a_bucket', labels: ['b', 'agent', 'c'] },
      { metric: 'd', labels: ['agent', 'c'] },
    ])
    assert.deepEqual(usedMetrics('time() - max(x) or vector(0)'), [{ metric: 'x', labels: [] }])
  })
})
