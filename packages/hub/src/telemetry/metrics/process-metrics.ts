/** Metrics of the process, under the names that Prometheus dashboards use. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { MetricRegistry, Sample } from './metric-registry.ts'

export function addProcessMetrics(registry: MetricRegistry, version: string): { close(): void } {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const one = (value: number): readonly Sample[] => [{ labels: [], value }]
  const startedAt = Date.now() / 1_000 - process.uptime()
  const about = (name: string, otel: string, unit: string, help: string) => ({ name, otel, unit, help, labels: [] })

  registry.externalCounter(
    about('process_cpu_seconds_total', 'process.cpu.time', 's', 'User and system time of the CPU.'),
    () => {
      const { user, system } = process.cpuUsage()
      return one((user + system) / 1_000_000)
    },
  )
  registry.gauge(about('process_resident_memory_bytes', 'process.memory.usage', 'By', 'Resident memory.'), () =>
    one(process.memoryUsage.rss()),
  )
  registry.gauge(about('nodejs_heap_size_used_bytes', 'v8js.memory.heap.used', 'By', 'Used heap.'), () =>
    one(process.memoryUsage().heapUsed),
  )
  registry.gauge(
    about('process_start_time_seconds', 'process.start_time', 's', 'Start time of the process since the Unix epoch.'),
    () => one(startedAt),
  )
  registry.gauge(
    about('nodejs_eventloop_lag_p99_seconds', 'nodejs.eventloop.delay.p99', 's', 'Delay of the event loop.'),
    () => {
      const late = delay.percentile(99) / 1_000_000_000
      delay.reset()
      return one(Number.isFinite(late) ? late : 0)
    },
  )
  registry.gauge(
    {
      ...about('parley_build_info', 'parley.build.info', '1', 'Versions of Parley and Node.js.'),
      labels: ['version', 'node'],
    },
    () => [{ labels: [version, process.versions.node], value: 1 }],
  )
  return { close: () => void delay.disable() }
}
