/** The metrics of a real hub that did some work, and whether an expression uses only these and their labels. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { hubMetricFamilies } from '../../scripts/docs-reference/metrics-page.ts'
import { newFolder, openHub } from '../telemetry/open-hub.ts'
import { parsePrometheus, type ParsedFamily } from '../telemetry/prometheus-parser.ts'
import { usedMetrics } from './promql.ts'

export interface KnownMetrics {
  readonly families: readonly ParsedFamily[]
  /** Fails with the name of a metric or label that does not exist. */
  check(expression: string): readonly string[]
}

const histogramSuffix = /_(?:bucket|sum|count)$/

/** The text of /metrics after requests, a failed task, a webhook, a queue and an export of the audit. */
export async function metricsOfWorkingHub(t: TestContext): Promise<string> {
  const folder = await newFolder(t)
  const { hub, agent } = await openHub(
    t,
    {
      agents: {
        echo: { kind: 'module', path: './agents/echo.ts', default: true },
        broken: { kind: 'module', path: './agents/broken.ts' },
        slow: { kind: 'command', command: ['cat'], limits: { concurrent: 2 } },
      },
      push: { allow: ['127.0.0.1'] },
      audit: { export: { file: `${folder}/audit.jsonl` } },
    },
    folder,
  )
  await (await agent('echo')).ask('one')
  await (await agent('slow')).ask('two')
  await (await agent('broken')).send('three')
  const response = await fetch(`${hub.url}/metrics`)
  assert.equal(response.status, 200)
  return response.text()
}

export async function knownMetrics(t: TestContext): Promise<KnownMetrics> {
  const families = parsePrometheus(await metricsOfWorkingHub(t))
  const declared = new Map((await hubMetricFamilies()).map(({ name, labels }) => [name, labels]))
  return {
    families,
    check: (expression) =>
      usedMetrics(expression).map(({ metric, labels }) => {
        // Prometheus writes it for every target.
        if (metric === 'up') return metric
        const base = metric.replace(histogramSuffix, '')
        const family = families.find(
          ({ name, type }) => name === metric || (type === 'histogram' && name === base && metric !== base),
        )
        assert.ok(family, `${metric} is not in /metrics: ${expression}`)
        const names = (declared.get(family.name) ?? []).map((label) => label.replaceAll('.', '_'))
        for (const label of labels)
          assert.ok(names.includes(label) || isJoinLabel(expression, label), `${metric} has no label ${label}`)
        return family.name
      }),
  }

  /** A label of the other side of a binary expression. */
  function isJoinLabel(expression: string, label: string): boolean {
    return usedMetrics(expression).some(({ metric }) => {
      const labels = declared.get(metric) ?? declared.get(metric.replace(histogramSuffix, '')) ?? []
      return labels.some((name) => name.replaceAll('.', '_') === label) && / and | \/ /.test(expression)
    })
  }
}
